import { ConfigError } from '../config-error.ts';
import { codeOf, messageOf } from '../error-text.ts';
import { printProblem } from '../telemetry/start-lines.ts';

/** Prints the error, with a line for each fault of the settings, and ends the process. */
export function fail(error: unknown, inJson = false): never {
  const { message, exitCode } = failureOf(error);
  const lines = error instanceof ConfigError ? error.faults : [message];
  for (const line of lines) printProblem('fatal', line.replaceAll('\n', ' '), inJson);
  process.exit(exitCode);
}

/** Describes an error in one line, with the exit code: 2 if the caller can mend it, otherwise 1. */
export function failureOf(error: unknown): { readonly message: string; readonly exitCode: number } {
  const isForeignHost = foreignHost.has(codeOf(error));
  const usageError = isForeignHost || error instanceof ConfigError || (error instanceof TypeError && 'code' in error);
  const reason = messageOf(error);
  const message = isForeignHost ? `HOST: expected an address of this machine, but got: ${reason}` : reason;
  return { message: message.replaceAll('\n', ' '), exitCode: usageError ? 2 : 1 };
}

/** Waits until a server listens. If its port is taken, the error names the setting. */
export async function listening<T>(
  variable: 'PORT' | 'METRICS_PORT' | 'WORKSPACE_PORT',
  start: Promise<T>,
): Promise<T> {
  try {
    return await start;
  } catch (error) {
    const code = codeOf(error);
    if (!(error instanceof Error) || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    // A port that is taken may be free soon; a forbidden port stays forbidden.
    if (code === 'EACCES')
      throw new ConfigError(`${variable}: expected a port that may be listened on, but got: ${error.message}`);
    const place = variable === 'WORKSPACE_PORT' ? '127.0.0.1' : 'HOST';
    const found = `expected a port that is free at ${place}, but got: ${error.message}`;
    // No free port is advised for metrics, because scrapers must know their port.
    const advice = variable === 'METRICS_PORT' ? '' : `; ${variable}=0 takes a free one`;
    throw new Error(`${variable}: ${found}${advice}`, { cause: error });
  }
}

/** The codes with which the operating system refuses an address that this machine does not have. */
const foreignHost: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN']);
