import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A command of the gateway that runs as a process of its own. */
export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Everything it has printed, errors included. */
  output(): string;
  /** Waits until it has printed something that matches; throws where it ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Its exit code, when it has ended. */
  exit(): Promise<number | null>;
}

const root = new URL('../../', import.meta.url);

/** Runs `node src/main.ts …` with nothing of the surrounding environment but PATH. */
export function runMain(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      for (const listener of listeners) listener();
    });
  }
  const ended = once(child, 'close');
  return {
    child,
    output: () => text,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        ended.then(() => reject(new Error(`it ended before it printed ${String(pattern)}: ${text}`)), reject);
        look();
      }),
    exit: async () => {
      await ended;
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
