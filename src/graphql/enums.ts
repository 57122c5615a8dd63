/** The REST values of each enum, by the name of the value in GraphQL. What is not listed is `UNKNOWN`. */
const restValues: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  PluginType: { LOCAL: 'local', CUSTOM: 'custom', REPOSITORY: 'repository', SOURCE: 'source' },
  RestrictionLevel: { EVERYONE_CAN_EDIT: 21, ONLY_INVITED_CAN_EDIT: 37 },
  WeekStartDay: { SUNDAY: 0, MONDAY: 1 },
};

const names = new Map(
  Object.entries(restValues).map(([type, values]) => [
    type,
    new Map<unknown, string>(Object.entries(values).map(([name, value]) => [value, name])),
  ]),
);

/** Names the values that REST sends for an enum; `UNKNOWN` is one that this gateway does not know. */
export function enumNames(type: string): (value: unknown) => string {
  const known = names.get(type);
  return (value) => known?.get(value) ?? 'UNKNOWN';
}

/** What REST calls an enum's value; undefined for `UNKNOWN`. */
export function enumRestValue(type: string, name: string): string | number | undefined {
  return restValues[type]?.[name];
}
