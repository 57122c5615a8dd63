/** Gateways as processes: installed on demand, started over an upstream, stopped. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../src/rest/values.ts';
import { textAt } from '../../test/support/connections.ts';
import { freePort } from '../../test/support/free-port.ts';
import { type Cursors, type Variant, variantOf } from '../scenarios/variants.ts';
import { fetchData, registrationOf, requestOf } from './ask.ts';
import { type GatewayEntry, root } from './table.ts';

/** A gateway that answers. */
export interface RunningGateway extends AsyncDisposable {
  /** The URL of its GraphQL endpoint. */
  readonly url: string;
  readonly pid: number;
  /** From its start to its first answer, in milliseconds. */
  readonly startMs: number;
  /** Reads the cursors that variants need, and registers the document that is asked for by its hash. */
  prepare(): Promise<void>;
  /** The nth variant of its variables. */
  variant(index: number, changes?: Partial<Variant>): Variant;
}

/** Where a gateway runs, and with what. */
export interface StartOptions {
  readonly upstreamUrl: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The words before its command, such as `taskset -c 0`. */
  readonly prefix?: readonly string[];
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
}

/** Installs what a peer needs into its folder, if that has not been done since its lock changed. */
export function install({ folder }: GatewayEntry): void {
  const path = relative(root, folder);
  if (path !== '') execFileSync(process.execPath, ['tools/install.ts', path], { cwd: root, stdio: 'inherit' });
}

/** Starts a gateway and waits until it answers. Throws with the end of its log if it does not. */
export async function startGateway(entry: GatewayEntry, options: StartOptions): Promise<RunningGateway> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-log-'));
  const log = join(folder, 'log');
  const launchedAt = performance.now();
  const child = launch(entry, options, port, log);
  const url = `http://127.0.0.1:${port}${entry.path}`;
  const stop = async (): Promise<void> => {
    await terminate(child);
    rmSync(folder, { recursive: true });
  };
  try {
    await answering(url, child);
    const startMs = performance.now() - launchedAt;
    let cursors: Cursors = [];
    const variant = (index: number, changes?: Partial<Variant>): Variant => variantOf(index, cursors, changes);
    const prepare = async (): Promise<void> => {
      if (entry.cursors) cursors = await readCursors(url);
      const { persisted } = entry.questions;
      if (persisted !== undefined) await fetchData(url, registrationOf('persisted', persisted, variant(0)));
    };
    return { url, pid: child.pid ?? 0, startMs, prepare, variant, [Symbol.asyncDispose]: stop };
  } catch (cause) {
    const end = readFileSync(log, 'utf8').slice(-2000);
    await stop();
    throw new Error(`${entry.title} does not answer: ${end}`, { cause });
  }
}

function launch(entry: GatewayEntry, options: StartOptions, port: number, log: string): ChildProcess {
  const node = [process.execPath, ...(options.nodeOptions ?? [])];
  const [command = '', ...args] = [...(options.prefix ?? []), ...node, ...wordsOf(entry)];
  const file = openSync(log, 'w');
  const child = spawn(command, args, {
    cwd: entry.folder,
    stdio: ['ignore', file, file],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      // Grafast's own switch.
      GRAPHILE_ENV: 'production',
      PORT: `${port}`,
      UPSTREAM: options.upstreamUrl,
      ...entry.environment(options.upstreamUrl),
      ...options.environment,
    },
  });
  closeSync(file);
  return child;
}

/** The arguments of Node beside its options: a module, or all that `npm start` gives it. */
function wordsOf({ folder, module }: GatewayEntry): string[] {
  if (module !== undefined) return [module];
  const [, line] = /"start": "node (.*)"/.exec(readFileSync(join(folder, 'package.json'), 'utf8')) ?? [];
  if (line === undefined) throw new Error(`expected a script that starts ${folder}`);
  return line.split(' ');
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  const hello = requestOf('S6', { query: 'query S6 { __typename }' }, variantOf(0, []));
  const deadline = Date.now() + 30_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    try {
      await fetchData(url, hello);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(10);
    }
  }
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(timer);
}

/** Walks the projects of a gateway that pages by cursors: the cursors before the projects 0, 20, 40 and on. */
export async function readCursors(url: string): Promise<Cursors> {
  const cursors: (string | null)[] = [null];
  const query = 'query cursors($after: String) { projects(first: 100, after: $after) { edges { cursor } } }';
  for (let pages = 0; pages < 20; pages += 1) {
    const body = JSON.stringify({ query, variables: { after: cursors.at(-1) } });
    const data = await fetchData(url, { method: 'POST', search: '', body });
    const projects = isObject(data) && isObject(data['projects']) ? data['projects']['edges'] : undefined;
    if (!Array.isArray(projects)) throw new Error('expected edges');
    for (let last = 19; last < projects.length; last += 20) {
      cursors.push(textAt(projects[last], 'cursor'));
    }
  }
  return cursors;
}
