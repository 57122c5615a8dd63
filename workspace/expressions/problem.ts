/** An expression that cannot be read, or has no value. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/** Throws unless `value` is there. */
export function present<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new ExpressionError(message);
  return value;
}
