/** A mistake of the caller that is found before any call. The message says what was expected. */
export class UserInputError extends Error {
  override readonly name = 'UserInputError';
  readonly code = 'BAD_USER_INPUT';
}

/** A value as messages quote it, shortened if it is long. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length <= 60 ? text : `${text.slice(0, 60)}… (${text.length} characters)`;
}

/** The input fields whose REST names the SDL gives in `@column`, by REST name. */
const inputNames: Readonly<Record<string, string>> = {
  primary_dashboard: 'primaryDashboardId',
  use_dashboard: 'useDashboardId',
  after: 'occurredAfter',
  before: 'occurredBefore',
  'tile.id': 'tileId',
  toDashboard: 'toDashboardId',
};

/**
 * Converts a path in a REST body to the path in the input: `primary_dashboard` to `primaryDashboardId`. Below the first
 * name, as in `filters.0.key`, the path stays the same.
 */
export function inputPathOf(path: string): string {
  if (Object.hasOwn(inputNames, path)) return inputNames[path] ?? path;
  const [name = '', ...inner] = path.split('.');
  return [Object.hasOwn(inputNames, name) ? inputNames[name] : camelCase(name), ...inner].join('.');
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
