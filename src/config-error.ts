/**
 * An error that the operator can correct. It is in a setting, in an argument, or in a file that one of them names. Each
 * fault says where it is, what is wrong and what is expected. No fault quotes a key.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** The descriptions of the faults, at least one. */
  readonly faults: readonly string[];

  constructor(...faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}
