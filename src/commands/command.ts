import type { SettingsReader } from '../settings/reader.ts';

/** The output of a command, and the exit code of the process. */
export interface Outcome {
  readonly text: string;
  readonly exitCode: number;
}

/** A command that prints its outcome and ends; `announce` prints a line before that. */
export type Command = (
  args: string[],
  settings: SettingsReader,
  announce: (line: string) => void,
) => Outcome | Promise<Outcome>;
