import { parseArgs } from 'node:util';
import type { Workspace } from 'embedded-workspace';
import type { Started } from '../cluster/messages.ts';
import { commandIn, helpOf, loadCommand, overview } from '../commands/commands.ts';
import { ConfigError } from '../config-error.ts';
import type { DemoTenants } from '../demo/demo-tenants.ts';
import {
  type Config,
  createReader,
  isProduction,
  type PlainConfig,
  readConfig,
  readPlainConfig,
} from '../settings/config.ts';
import { settings } from '../settings/declaration.ts';
import { readEnvironmentFile } from '../settings/environment-file.ts';
import type { EnvironmentFile } from '../settings/settings-reader.ts';
import { embedded } from '../settings/urls.ts';
import { announceServer, logForeignLines, printProblem } from '../telemetry/start-lines.ts';
import { allowOptimization } from './optimization.ts';
import type { Task } from './serving.ts';
import { fail, listening } from './start-failures.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** Runs the command that the arguments name. If the command fails, the process prints the reasons and ends. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  // A server reports errors in the format of its log; other commands report them for people.
  let isServing = true;
  try {
    if (words[0] === 'worker') return await (await import('./serving.ts')).serveAsWorker(process.env);
    const { name, rest } = commandIn(words);
    if (rest.includes('--help') || rest.includes('-h'))
      return console.log(words[0]?.startsWith('-') === true ? overview() : helpOf(name));
    const execute = await loadCommand(name);
    isServing = execute === undefined;
    if (execute === undefined) return await start(name, [...rest]);
    const reader = createReader(process.env, environmentFile());
    allowOptimization();
    const { text, exitCode } = await execute([...rest], reader, (line) => console.error(line));
    console.log(text);
    process.exitCode = exitCode;
  } catch (error) {
    fail(error, isServing && isProduction(process.env));
  }
}

async function start(command: string, args: string[]): Promise<void> {
  const own = { check: { type: 'boolean' }, 'demo-tenants': { type: 'boolean' } } as const;
  const { values } = parseArgs({ args, options: own });
  const isDemo = values['demo-tenants'] === true;
  if (command !== 'serve' && args.length > 0) throw new ConfigError(`${command}: expected no arguments`);
  const file = environmentFile();
  if (values.check === true) return checkSettings(file);
  if (isProduction(process.env)) logForeignLines();
  if (command === 'workspace') return serveWorkspace(readPlainConfig(createReader(process.env, file)));
  return isDemo ? serveTenants(file) : serve(readConfig(process.env, file));
}

/** Checks the settings and the files that they name, and starts nothing. */
async function checkSettings(file: EnvironmentFile): Promise<void> {
  const { checkedSettings } = await import('../commands/check-settings.ts');
  const { faults, warnings } = await checkedSettings(process.env, file);
  for (const warning of warnings) printProblem('warn', warning, false);
  for (const fault of faults) printProblem('fatal', fault, false);
  if (faults.length > 0) process.exitCode = 1;
  else console.log('The settings and their files are fine. Neither the upstream nor any other server was asked.');
}

/**
 * The settings in the file `.env` of the folder in which the gateway was started. Variables of the environment take
 * precedence. OpenTelemetry's variables and `NODE_ENV` are copied into the environment, because other code reads them
 * there.
 */
function environmentFile(): EnvironmentFile {
  const file = readEnvironmentFile('.env', Object.keys(settings));
  for (const [name, value] of Object.entries(file.values))
    if (/^OTEL_|^NODE_ENV$/.test(name)) process.env[name] ??= value;
  return file;
}

/** Serves the embedded workspace to demo tenants, with an identity provider that this process starts for them. */
async function serveTenants(file: EnvironmentFile): Promise<void> {
  const { UPSTREAM_URL: upstreamUrl = '' } = { ...file.values, ...process.env };
  if (!['', embedded].includes(upstreamUrl)) {
    throw new ConfigError('--demo-tenants: expected the embedded workspace, but UPSTREAM_URL names another upstream');
  }
  const [{ startDemoTenants }, { demoKeys }] = await Promise.all([
    import('../demo/demo-tenants.ts'),
    import('embedded-workspace'),
  ]);
  const demo = await startDemoTenants(demoKeys[0]);
  await serve(readConfig({ ...process.env, ...demo.settings }, file), demo);
}

async function serve(config: Config, demo?: DemoTenants): Promise<void> {
  const { lead, serveAlone } = await import('./serving.ts');
  const workspace = config.upstreamUrl === undefined ? await startEmbedded(config) : undefined;
  const ownKey = config.auth === undefined ? workspace?.demoKey : undefined;
  const demoKey = demo === undefined ? ownKey : demo.tokens[0]?.token;
  const upstreamUrl = config.upstreamUrl ?? workspace?.url ?? '';
  const close = async (): Promise<void> => void (await Promise.all([workspace?.close(), demo?.close()]));
  const task: Task = { config, upstreamUrl, demoKey, environment: process.env, close };
  const started = await (config.workers === 1 ? serveAlone(task) : lead(task));
  // If the start fails, only the line with the reason may be printed.
  const inJson = isProduction(process.env);
  for (const warning of config.warnings) printProblem('warn', warning, inJson);
  // Printed last, because a program that reads the line may act on it. Not printed by `console.log`, because that uses
  // `process.stdout`, which src/telemetry/log.ts avoids.
  const lines = demo === undefined ? greeting(started, config, workspace) : tenantsGreeting(started, config, demo);
  announceServer(lines, placesOf(started, config, { workspace, demo }), inJson);
}

async function serveWorkspace(config: PlainConfig): Promise<void> {
  const workspace = await startEmbedded(config);
  stopOnSignal(() => workspace.close(), { end: () => Promise.resolve() });
  const { url, demoKey } = workspace;
  announceServer(`Workspace  ${url}\nDemo key   ${demoKey}`, { workspace: url, demoKey }, isProduction(process.env));
}

/** The addresses and the key in a greeting, as fields of a log line. */
function placesOf(
  { url, upstream }: Started,
  { upstreamUrl, auth }: Config,
  { workspace, demo }: { readonly workspace: Workspace | undefined; readonly demo: DemoTenants | undefined },
): Readonly<Record<string, unknown>> {
  return {
    gateway: `${url}/graphql`,
    upstream: upstreamUrl ?? workspace?.url,
    answer: upstream,
    demoKey: auth === undefined ? workspace?.demoKey : undefined,
    tokens: demo?.tokenUrl,
  };
}

/**
 * Starts the embedded workspace. It listens on this machine only, whatever HOST says, because its data and its keys are
 * public.
 */
async function startEmbedded({ workspace }: Pick<PlainConfig, 'workspace'>): Promise<Workspace> {
  const { startWorkspace } = await import('embedded-workspace');
  return listening('WORKSPACE_PORT', startWorkspace({ host: '127.0.0.1', ...workspace }));
}

function greeting({ url, upstream }: Started, config: Config, workspace: Workspace | undefined): string {
  const endpoint = `${url}/graphql`;
  const gateway = `Gateway    ${endpoint}${config.graphiql ? '   (GraphiQL in a browser)' : ''}`;
  if (workspace === undefined) return `${gateway}\nUpstream   ${config.upstreamUrl}   (${upstream})`;
  const lines = [gateway, `Workspace  ${workspace.url}`];
  // Only what works is printed: the key is useless if the gateway takes tokens, and so is the `curl` line if only
  // listed documents run.
  if (config.auth === undefined) lines.push(`Demo key   ${workspace.demoKey}`);
  if (config.auth !== undefined || config.persisted.mode === 'only') return lines.join('\n');
  const body = JSON.stringify({
    query: '{ projects(first: 2) { nodes { name dashboards(first: 2) { nodes { name } } } } }',
  });
  const headers = `-H 'content-type: application/json' -H 'authorization: Bearer ${workspace.demoKey}'`;
  return [...lines, '', `curl -s ${endpoint} ${headers} -d '${body}'`].join('\n');
}

function tenantsGreeting({ url }: Started, { graphiql }: Config, { tokens, tokenUrl }: DemoTenants): string {
  const endpoint = `${url}/graphql`;
  const body = JSON.stringify({ query: '{ projects { totalCount nodes { name } } project(id: 3) { name } }' });
  return [
    `Gateway    ${endpoint}${graphiql ? '   (GraphiQL in a browser, as the first user)' : ''}`,
    `Tokens     ${tokenUrl}?tenant=NAME&role=ROLE&sub=USER`,
    ...tokens.flatMap(({ user, about, token }) => [
      '',
      `Tenant ${user}: ${about}`,
      `curl -s ${endpoint} -H 'content-type: application/json' -H 'authorization: Bearer ${token}' -d '${body}'`,
    ]),
  ].join('\n');
}
