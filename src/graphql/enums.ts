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

/** The name of an enum's value for what REST sent; `UNKNOWN` for a value that this gateway does not know. */
export function enumName(type: string, value: unknown): string {
  return names.get(type)?.get(value) ?? 'UNKNOWN';
}

/** What REST calls an enum's value; undefined for `UNKNOWN`. */
export function enumRestValue(type: string, name: string): string | number | undefined {
  return restValues[type]?.[name];
}
