import type { Config } from '../settings/config.ts';

/** What a command says, and the exit code of the process. */
export interface Outcome {
  readonly text: string;
  readonly exitCode: number;
}

/** A command that reads files, says something and ends. */
export type Command = (args: string[], config: Config) => Outcome;
