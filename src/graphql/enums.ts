/** The REST values of each enum, by the name of the value in GraphQL. Any other value is `UNKNOWN`. */
const restValues = {
  PluginType: { LOCAL: 'local', CUSTOM: 'custom', REPOSITORY: 'repository', SOURCE: 'source' },
  RestrictionLevel: { EVERYONE_CAN_EDIT: 21, ONLY_INVITED_CAN_EDIT: 37 },
  WeekStartDay: { SUNDAY: 0, MONDAY: 1 },
} as const;

type RestValues = Readonly<Record<string, string | number>>;

/** A function for each enum. It converts a REST value to its name in GraphQL. */
export const enumNames = {
  PluginType: namesOf(restValues.PluginType),
  RestrictionLevel: namesOf(restValues.RestrictionLevel),
  WeekStartDay: namesOf(restValues.WeekStartDay),
} as const;

function namesOf(values: RestValues): (value: unknown) => string {
  const names = new Map<unknown, string>(Object.entries(values).map(([name, value]) => [value, name]));
  return (value) => names.get(value) ?? 'UNKNOWN';
}

/** The REST value of an enum value; undefined for `UNKNOWN`. */
export function enumRestValue(type: string, name: string): string | number | undefined {
  const all: Readonly<Record<string, RestValues>> = restValues;
  return all[type]?.[name];
}
