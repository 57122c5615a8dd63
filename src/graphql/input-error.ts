/** The caller's fault, found before any call (`BAD_USER_INPUT`). The message says what was wrong and what was expected. */
export class UserInputError extends Error {
  override readonly name = 'UserInputError';
  readonly code = 'BAD_USER_INPUT';
}

/** A value as messages quote it, shortened if it is long. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length <= 60 ? text : `${text.slice(0, 60)}… (${text.length} characters)`;
}

/** REST names whose input field has another name than theirs in camelCase, as `@column` says in the SDL. */
const renamed: Readonly<Record<string, string>> = {
  primary_dashboard: 'primaryDashboardId',
  use_dashboard: 'useDashboardId',
  after: 'occurredAfter',
  before: 'occurredBefore',
  'tile.id': 'tileId',
  toDashboard: 'toDashboardId',
};

/**
 * The place in an input of a path in a REST body: `filters.0.key`, `primary_dashboard`. The inside of JSON stays as it
 * is.
 */
export function inputPathOf(path: string): string {
  if (Object.hasOwn(renamed, path)) return renamed[path] ?? path;
  const [name = '', ...inner] = path.split('.');
  return [Object.hasOwn(renamed, name) ? renamed[name] : camelCase(name), ...inner].join('.');
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
