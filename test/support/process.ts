import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A command that runs as a process of its own, with nothing of the surrounding environment but PATH. */
export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  output(): string;
  /** Waits until it has printed something that matches; throws if it ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Its exit code, when it has ended. */
  exit(): Promise<number | null>;
}

const root = new URL('../../', import.meta.url);

/** The folder with the compiled code of earlier starts. */
export const compileCache = fileURLToPath(new URL('node_modules/.cache/node-compile-cache', root));

type Environment = Readonly<Record<string, string>>;

/** Runs `node src/main.ts …`, in the folder of the repository unless another is named. */
export function runMain(args: readonly string[], environment: Environment = {}, folder = '.'): Running {
  return run(process.execPath, [fileURLToPath(new URL('src/main.ts', root)), ...args], { environment, folder });
}

/** Runs a program in a folder. */
export function runProgram(folder: string, program: readonly string[], environment: Environment = {}): Running {
  const [command = '', ...args] = program;
  return run(command, args, { folder, environment });
}

/** Runs a script of the package in a folder. It gets a process group of its own: npm does not end what it has started. */
export function runScript(
  folder: string,
  script: string,
  environment: Environment = {},
  args: readonly string[] = [],
): Running {
  return run('npm', ['run', '-s', script, '--', ...args], { folder, environment, detached: true });
}

/** Runs lines of a shell in a folder. The process group is its own: what they have started ends with them. */
export function runShell(lines: string, environment: Environment, folder: string): Running {
  return run('sh', ['-c', lines], { folder, environment, detached: true });
}

interface RunOptions {
  readonly folder?: string;
  readonly environment: Environment;
  readonly detached?: boolean;
}

function run(command: string, args: readonly string[], options: RunOptions): Running {
  const { folder = '.', environment, detached = false } = options;
  const child = spawn(command, args, {
    cwd: new URL(folder, root),
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
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
      const { pid, exitCode, signalCode } = child;
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(detached ? -pid : pid, 'SIGKILL');
      await ended;
    },
  };
}
