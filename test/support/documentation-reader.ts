import { fileURLToPath } from 'node:url';
import { isObject } from '../../src/rest/values.ts';
import type { Block } from './documentation.ts';
import { ask } from './gateway.ts';
import { createFolder } from './persisted.ts';
import { type Running, runScript, runShell } from './process.ts';

/** The output of a block, and the output that the page tells. */
export interface Outcome {
  readonly found: unknown;
  readonly expected: unknown;
}

/** The header with the key that the examples use. */
export const demoKey = { authorization: 'Bearer phx_demo_fernweh_travel' };

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The folder that pages name as `examples/`. */
const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** The output of commands: the same command on another page is not run again. */
const printed = new Map<string, string>();

/** Goes through the blocks of a page in their order: queries and commands meet the gateway that was started last. */
export class DocumentationReader implements AsyncDisposable {
  readonly #upstreamUrl: string;
  readonly #folder = createFolder();
  #gateway: Running | undefined;
  #url = '';
  #said = '';

  /** `upstreamUrl` is the service that pages call analytics.example.com. */
  constructor(upstreamUrl: string) {
    this.#upstreamUrl = upstreamUrl;
  }

  /** All that its gateways have printed, after the last has been stopped. */
  async said(): Promise<string> {
    await this.#stop();
    return this.#said;
  }

  /** Runs a block. Throws if it has a command that is not known to be harmless. */
  follow(block: Block): Promise<Outcome> {
    if (block.language === 'graphql') return this.#query(block);
    if (block.language === 'console') return print(block);
    return /(?:^|\s)npm start$/m.test(block.text) ? this.#start(block.text) : this.#command(block);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    this.#folder[Symbol.dispose]();
  }

  async #query({ text, answer }: Block): Promise<Outcome> {
    if (this.#gateway === undefined) await this.#start('npm start');
    const { body, errors } = await ask(this.#url, text, { headers: demoKey });
    return answer === undefined
      ? { found: errors, expected: undefined }
      : { found: parse(body), expected: parse(answer) };
  }

  /** Runs lines of which the last starts a gateway; it has to answer a query. What `npm ci` installs is there already. */
  async #start(lines: string): Promise<Outcome> {
    await this.#stop();
    const command = lines.replace('npm ci && ', '').replace('npm start', `exec '${process.execPath}' '${main}'`);
    this.#gateway = this.#run(command, { PORT: '0', WORKSPACE_PORT: '0', STOP_DELAY_MS: '0' });
    [, this.#url = ''] = await this.#gateway.printed(/^Gateway +(\S+)/m);
    const { errors } = await ask(this.#url, '{ projects { totalCount } }', { headers: demoKey });
    return { found: errors, expected: undefined };
  }

  /** Runs lines that end by themselves, and have an answer. */
  async #command({ text, answer = '' }: Block): Promise<Outcome> {
    const [unknown] = /^(?!curl )\S.*/m.exec(text.replaceAll(/'[^']*'/g, '')) ?? [];
    if (unknown !== undefined) throw new Error(`expected <!-- not run: … --> before a block with ${unknown}`);
    await using running = this.#run(text, {});
    await running.exit();
    return { found: parse(running.output()), expected: parse(answer) };
  }

  /** Runs lines with the addresses of here. */
  #run(lines: string, environment: Readonly<Record<string, string>>): Running {
    const here = lines
      .replaceAll('http://127.0.0.1:4000/graphql', this.#url)
      .replaceAll('=examples/', `=${examples}`)
      .replaceAll('https://analytics.example.com', this.#upstreamUrl)
      // It takes no traces, but says so at once.
      .replaceAll('http://127.0.0.1:4318', this.#upstreamUrl);
    return runShell(here, environment, `${this.#folder.path}/`);
  }

  async #stop(): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    this.#gateway = undefined;
    gateway.child.kill('SIGTERM');
    await gateway.exit();
    this.#said += gateway.output();
  }
}

/** Runs a script of the package, below whose command stands what it prints. */
async function print({ text }: Block): Promise<Outcome> {
  const [, script = '', args = '', expected] = /^\$ npm run -s (\S+) -- ([^\n]+)\n([\s\S]*)$/.exec(text) ?? [];
  const command = `${script} ${args}`;
  const known = printed.get(command);
  if (known !== undefined) return { found: known, expected };
  await using running = runScript('.', script, {}, args.split(' '));
  await running.exit();
  printed.set(command, running.output());
  return { found: running.output(), expected };
}

function parse(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : `expected an object, but got ${text}`;
}
