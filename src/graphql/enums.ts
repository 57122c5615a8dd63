/** The REST values of each enum, by the name of the value in GraphQL. What is not listed is `UNKNOWN`. */
export const restValues = {
  PluginType: { LOCAL: 'local', CUSTOM: 'custom', REPOSITORY: 'repository', SOURCE: 'source' },
  RestrictionLevel: { EVERYONE_CAN_EDIT: 21, ONLY_INVITED_CAN_EDIT: 37 },
  WeekStartDay: { SUNDAY: 0, MONDAY: 1 },
} as const;

/** The name of an enum's value for what REST sent; `UNKNOWN` for a value that this gateway does not know. */
export function enumName(type: string, value: unknown): string {
  const known = isEnum(type) ? Object.entries(restValues[type]).find(([, rest]) => rest === value) : undefined;
  return known?.[0] ?? 'UNKNOWN';
}

/** What REST calls an enum's value; undefined for `UNKNOWN`. */
export function enumRestValue(type: string, name: unknown): string | number | undefined {
  return isEnum(type) ? Object.entries(restValues[type]).find(([known]) => known === name)?.[1] : undefined;
}

function isEnum(type: string): type is keyof typeof restValues {
  return Object.hasOwn(restValues, type);
}
