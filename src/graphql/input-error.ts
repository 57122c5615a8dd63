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
