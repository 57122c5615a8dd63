/** The error of workers that cannot serve. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
