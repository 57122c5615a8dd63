import type { SettingsReader } from '../settings/reader.ts';

/** The output of a command, and the exit code of the process. */
export interface Outcome {
  readonly text: string;
  readonly exitCode: number;
}

/** A command that says something and ends; `announce` is for what has to be said before that, a line at a time. */
export type Command = (
  args: string[],
  settings: SettingsReader,
  announce: (line: string) => void,
) => Outcome | Promise<Outcome>;
