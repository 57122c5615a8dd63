import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkedSettings } from '../../src/commands/check-settings.ts';
import { settings } from '../../src/settings/declaration.ts';
import { accepts, askForParts, mergeParts } from '../support/parts.ts';
import { createFolder } from '../support/persisted.ts';
import { runMain, runProgram } from '../support/process.ts';
import * as rows from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const freePorts = { PORT: '0', WORKSPACE_PORT: '0' };

test('without settings it starts the workspace and the gateway, and the curl line that it prints works', async () => {
  await using gateway = runMain([], freePorts);
  const [line] = await gateway.printed(/^curl .*$/m);
  expect(gateway.output()).toMatch(/^Gateway +http:\/\/127\.0\.0\.1:\d+\/graphql/m);
  expect(gateway.output()).toMatch(/^Workspace +http:\/\/127\.0\.0\.1:\d+$/m);
  expect(gateway.output()).toMatch(/^Demo key +phx_\w+$/m);
  const { stdout } = await promisify(execFile)('bash', ['-c', line]);
  const text: unknown = expect.any(String);
  expect(JSON.parse(stdout)).toEqual({
    data: {
      projects: {
        nodes: Array.from({ length: 2 }, () => ({
          name: text,
          dashboards: { nodes: [{ name: text }, { name: text }] },
        })),
      },
    },
  });
});

test('the workspace of a gateway listens on this machine only, whatever HOST says', async () => {
  await using running = runMain([], { ...freePorts, HOST: '0.0.0.0' });
  const [, url = ''] = await running.printed(/^Workspace +(\S+)$/m);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await expectOnThisMachineOnly(url);
});

async function expectOnThisMachineOnly(url: string): Promise<void> {
  const elsewhere = url.replace('127.0.0.1', '127.0.0.2');
  expect((await fetch(`${url}/api/projects/`)).status).toBe(401);
  await expect(fetch(`${elsewhere}/api/projects/`)).rejects.toThrow('fetch failed');
}

test('a start runs the code that an earlier process has compiled', async () => {
  const help = async (): Promise<string> => {
    await using running = runMain(['--help'], { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
    expect(await running.exit()).toBe(0);
    return running.output();
  };
  await help();
  expect(await help()).toMatch(/V8 code cache for ESM \S+\/src\/process\/command-line\.ts was accepted/);
});

test('a start compiles nothing that an earlier server has compiled, although a server changes flags once it has started', async () => {
  const start = async (): Promise<readonly string[]> => {
    await using gateway = runMain([], { ...freePorts, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', STOP_DELAY_MS: '0' });
    // The end of the flush is printed with the next lines, because Node buffers them.
    await gateway.printed(/flushCompileCache\(\) requested/);
    gateway.child.kill('SIGTERM');
    await gateway.exit();
    return gateway.output().match(/V8 code cache for .* was (?:accepted|rejected)/g) ?? [];
  };
  await start();
  const [first, ...others] = await start();
  expect(first).toContain('accepted');
  expect(others.filter((line) => !line.endsWith('accepted'))).toEqual([]);
});

test('V8 optimizes nothing during a start, and hot functions of a server afterwards', async () => {
  const start = [process.execPath, '--trace-opt', 'src/main.ts'];
  // Code that is compiled under an option of V8 is of no use to other processes.
  await using gateway = runProgram('.', start, { ...freePorts, NODE_DISABLE_COMPILE_CACHE: '1' });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+) /m);
  expect(gateway.output()).not.toContain('TURBOFAN');
  const asking = setInterval(() => void fetch(`${url}?query={__typename}`).catch(() => undefined), 5);
  await gateway.printed(/completed optimizing .*TURBOFAN/).finally(() => clearInterval(asking));
});

test.each([
  ['the embedded workspace', {}, ['fastify']],
  ['an upstream', { UPSTREAM_URL: 'http://127.0.0.1:1' }, []],
])('a start on %s loads no package that only some gateways or operations need', async (_, environment, needed) => {
  const recorder = new URL('../support/loaded-packages.ts', import.meta.url);
  const own = { ...freePorts, ...environment, STOP_DELAY_MS: '0', NODE_OPTIONS: `--import=${String(recorder)}` };
  await using gateway = runMain([], own);
  await gateway.printed(/^Gateway /m);
  gateway.child.kill('SIGTERM');
  await gateway.exit();
  const [, list = ''] = /^loaded (.*)$/m.exec(gateway.output()) ?? [];
  const loaded: unknown = JSON.parse(list);
  expect(loaded).toEqual(expect.arrayContaining(['graphql', 'pino', ...needed]));
  const late = ['graphql-jit', 'ioredis', 'jose', 'pino-pretty', 'yaml', 'diff', '@graphql-yoga/render-graphiql'];
  const telemetry = ['prom-client', '@opentelemetry/api', '@opentelemetry/sdk-node'];
  const compilers = ['ajv', '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'];
  // Node's own client, and what it reads patterns of file names with.
  const parts = ['NativeModule internal/deps/undici/undici', 'NativeModule internal/deps/minimatch/index'];
  const unexpected = new Set([...late, ...telemetry, ...compilers, ...parts]);
  expect(Array.isArray(loaded) ? loaded.filter((name) => unexpected.has(String(name))) : loaded).toEqual([]);
});

/** Has node print the path of each module of the gateway that it loads. */
const printModules = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => (console.log('module ' + url.split('/src/')[1]), next(url, context)) });
`)}`;

test('without MCP_TOOLS no code for agents is loaded', async () => {
  await using upstream = await startUpstream({});
  upstream.release();
  using folder = createFolder();
  const environment = {
    PORT: '0',
    UPSTREAM_URL: upstream.url,
    NODE_OPTIONS: `--import=${printModules}`,
    PERSISTED_DOCUMENTS: folder.write('tools.graphql', 'query Tool { __typename }'),
  };
  const modulesOf = async (more: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    await using gateway = runMain([], { ...environment, ...more });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+) /m);
    await (await fetch(`${url}?query={__typename}`)).text();
    return [...gateway.output().matchAll(/^module (.+)$/gm)].map(([, path = '']) => path);
  };
  const without = await modulesOf({});
  expect(without).toContain('operation/pipeline.ts');
  expect(without.filter((path) => path.startsWith('mcp/'))).toEqual([]);
  expect(await modulesOf({ MCP_TOOLS: 'Tool' })).toContain('mcp/handler.ts');
});

test('an interrupt stops it as well, and a second one at once', async () => {
  await using gateway = runMain([], { ...freePorts, STOP_DELAY_MS: '60000' });
  await gateway.printed(/^curl/m);
  gateway.child.kill('SIGINT');
  setTimeout(() => gateway.child.kill('SIGINT'), 200);
  expect(await gateway.exit()).toBe(1);
});

test.each([
  [{ ...freePorts, HOST: '192.0.2.1' }, 'HOST: expected an address of this machine'],
  [
    { ...freePorts, NODE_ENV: 'production' },
    'UPSTREAM_URL: expected the URL of the REST API, or embedded to serve example data, but it is not set',
  ],
])('the wrong setting %j ends the start with one line and exit code 2', async (environment, message) => {
  await using gateway = runMain([], environment);
  expect(await gateway.exit()).toBe(2);
  expect(gateway.output()).toContain(message);
  expect(gateway.output().trim().split('\n')).toHaveLength(1);
});

test('in production the example data is served if UPSTREAM_URL asks for it', async () => {
  await using gateway = runMain([], { ...freePorts, NODE_ENV: 'production', UPSTREAM_URL: 'embedded' });
  const [, url = ''] = await gateway.printed(/"gateway":"([^"]+)".*"demoKey":"phx_\w+".*\n/);
  const answer = await fetch(new URL('/readyz', url));
  expect(answer.status).toBe(200);
});

test('in production all that it prints from its start to its stop is lines of JSON', async () => {
  await using upstream = await startUpstream({});
  const production = { PORT: '0', NODE_ENV: 'production', UPSTREAM_URL: upstream.url, STOP_DELAY_MS: '0' };
  await using gateway = runMain([], production);
  await gateway.printed(/"msg":"serving"/);
  gateway.child.kill('SIGTERM');
  expect(await gateway.exit()).toBe(0);
  const lines = linesOf(gateway.output());
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 40, msg: expect.stringMatching(/^CURSOR_SECRET: /) as unknown }),
  );
  const place = expect.stringMatching(/^http:.*\/graphql$/) as unknown;
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 30, msg: 'serving', gateway: place, upstream: upstream.url }),
  );
  await using unknown = runMain(['--nope'], production);
  expect(await unknown.exit()).toBe(2);
  expect(linesOf(unknown.output())).toEqual([expect.objectContaining({ level: 60 })]);
  await using refused = runMain([], { ...production, PORT: 'many' });
  expect(await refused.exit()).toBe(2);
  expect(linesOf(refused.output())).toEqual([
    expect.objectContaining({ level: 60, msg: expect.stringMatching(/^PORT: expected /) as unknown }),
  ]);
});

function linesOf(output: string): readonly unknown[] {
  return output
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

test('a command that serves nothing needs no upstream in production', async () => {
  await using command = runMain(['schema'], { NODE_ENV: 'production' });
  expect(await command.exit()).toBe(0);
});

test.each([[['sever']], [['serve', 'twice']]])('%j is no command line: exit code 2', async (args) => {
  await using gateway = runMain(args);
  expect(await gateway.exit()).toBe(2);
  expect(gateway.output().trim().split('\n')).toHaveLength(1);
});

/** Without one, a start warns that cursors can be forged. */
const withSecret = { CURSOR_SECRET: 'a secret that is hard to guess' };

test('a port that is taken is one clear line, and exit code 1', async () => {
  await using upstream = await startUpstream({});
  await using gateway = runMain([], { ...withSecret, PORT: new URL(upstream.url).port, UPSTREAM_URL: upstream.url });
  expect(await gateway.exit()).toBe(1);
  expect(gateway.output()).toMatch(
    /^error: PORT: expected a port that is free at HOST, but got: .*EADDRINUSE.*; PORT=0 takes a free one\n$/,
  );
  await using workspace = runMain([], { PORT: '0', WORKSPACE_PORT: new URL(upstream.url).port });
  expect(await workspace.exit()).toBe(1);
  expect(workspace.output()).toMatch(
    /^error: WORKSPACE_PORT: expected a port that is free at 127\.0\.0\.1, but .*; WORKSPACE_PORT=0 takes a free one\n$/,
  );
});

test('a gateway that runs listed documents only prints a key, and no curl line that would be refused', async () => {
  using folder = createFolder();
  const listed = folder.write('listed.graphql', '{ __typename }');
  const environment = {
    ...freePorts,
    PERSISTED_DOCUMENTS: listed,
    PERSISTED_DOCUMENTS_MODE: 'only',
    LOG_LEVEL: 'warn',
  };
  await using gateway = runMain([], environment);
  await gateway.printed(/^Demo key +\S+\n/m);
  expect(gateway.output()).toMatch(/^Gateway +\S+\/graphql .*\nWorkspace +\S+\nDemo key +\S+\n$/);
});

test('a gateway that takes tokens prints no key, for it would be refused', async () => {
  using folder = createFolder();
  const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: '1' };
  await using gateway = runMain([], {
    ...freePorts,
    ...withSecret,
    AUTH: 'jwt',
    JWT_JWKS: folder.write('jwks.json', { keys: [key] }),
    JWT_ISSUER: 'https://issuer.test/',
    JWT_AUDIENCE: 'gateway',
    UPSTREAM_KEYS: folder.write('keys.json', { acme: { key: 'phx_acme' } }),
    PERSISTED_DOCUMENTS: folder.write('listed.graphql', '{ __typename }'),
    LOG_LEVEL: 'warn',
  });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+).*\nWorkspace +\S+\n/m);
  expect(gateway.output()).not.toMatch(/phx_|curl/);
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  expect(await page.text()).not.toContain('phx_demo');
});

test('settings may stand in a file .env, proxies in lower case too; the environment wins, and names of others are warned of', async () => {
  using folder = createFolder();
  folder.write('.env', 'PORT=many\nUPSTREAM_URL=https://api.example.com/v1\nhttps_proxy=proxy.example.com:3128\n');
  const environment = { PORT: '0', REDIS_URI: 'redis://127.0.0.1:1' };
  await using gateway = runMain([], environment, `${folder.path}/`);
  const [, upstream] = await gateway.printed(/^Upstream +(\S+) /m);
  expect(upstream).toBe('https://api.example.com/v1');
  expect(gateway.output()).toMatch(/^warning: REDIS_URI: there is no such setting, so it is ignored/m);
});

test('everything that is wrong with the settings is told in one start, each in a line of its own', async () => {
  using folder = createFolder();
  folder.write('.env', 'MAX_DEPTH=deep\nCOLOUR=red\nPERSISTED_DOCUMENTS_MODE=only\n');
  const wrong = { ...freePorts, PORT: 'many', CURSOR_SECRET: 'hunter2', REDIS_PASSWORD_FILE: 'hunter2' };
  const faults = [
    /^COLOUR: there is no such setting \(in \.env\)/,
    /^PORT: expected a whole number .* but got "many"$/,
    /^CURSOR_SECRET: expected .* but it has 7 characters$/,
    /^MAX_DEPTH: expected .* but got "deep" \(in \.env\)$/,
    /^PERSISTED_DOCUMENTS: expected .* because PERSISTED_DOCUMENTS_MODE is only \(set in \.env\), but it is not set$/,
    /^REDIS_PASSWORD_FILE: expected .* but there is no file at that path$/,
  ];
  for (const [args, code] of [
    [[], 2],
    [['--check'], 1],
  ] as const) {
    await using gateway = runMain(args, wrong, `${folder.path}/`);
    expect(await gateway.exit()).toBe(code);
    const told = gateway.output().match(/(?<=^error: ).*$/gm) ?? [];
    expect(told).toHaveLength(faults.length);
    for (const fault of faults) expect(told).toContainEqual(expect.stringMatching(fault));
    expect(gateway.output()).not.toContain('hunter2');
  }
});

test('--check reads settings, files and listed documents, and asks nobody', async () => {
  using folder = createFolder();
  await using upstream = await startUpstream({});
  const listed = folder.write('listed.json', { a: '{ __typename }', b: '{ nothing }' });
  const environment = { UPSTREAM_URL: upstream.url, PORT: new URL(upstream.url).port, PERSISTED_DOCUMENTS: listed };
  await using right = runMain(['--check'], environment);
  expect(await right.exit()).toBe(0);
  expect(right.output()).toMatch(/^The settings and their files are fine\./m);
  expect(right.output()).toMatch(/^warning: persisted document is not valid: .*listed\.json: b: /m);
  const faultsWith = async (more: object): Promise<readonly string[]> =>
    (await checkedSettings({ ...environment, ...more }, { values: {}, faults: [] })).faults;
  expect(await faultsWith({ PERSISTED_DOCUMENTS_STRICT: 'on' })).toEqual([
    expect.stringMatching(/^PERSISTED_DOCUMENTS: documents that are not valid: .*listed\.json: b: /),
  ]);
  expect(await faultsWith({ MCP_TOOLS: 'Missing' })).toEqual([
    expect.stringMatching(/^MCP_TOOLS: expected Missing to be an operation/),
  ]);
  expect(upstream.requests).toEqual([]);
});

test('--help names every setting', async () => {
  await using gateway = runMain(['--help']);
  expect(await gateway.exit()).toBe(0);
  const told = [...gateway.output().matchAll(/^ {2}([A-Z][A-Z_]+) /gm)].map(([, name]) => name);
  expect(told).toEqual(Object.keys(settings));
});

test('the workspace can be started alone, and listens on this machine only, too', async () => {
  await using workspace = runMain(['workspace'], { ...freePorts, HOST: '0.0.0.0' });
  const [, url = '', key = ''] = await workspace.printed(/^Workspace +(\S+)\nDemo key +(\S+)/m);
  const answer = await fetch(`${url}/api/projects/`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  await expectOnThisMachineOnly(url);
  workspace.child.kill('SIGTERM');
  expect(await workspace.exit()).toBe(0);
});

test('the first answer in parts loads what streams need before its REST calls, and not between its parts', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/:id/': rows.project(1) }, { hold: 2 });
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => {
      if (url.includes('/graphql-yoga/')) process.stderr.write('streams are loaded\\n');
      return next(url, context);
    } });`;
  await using gateway = runMain([], {
    ...{ PORT: '0', UPSTREAM_URL: upstream.url },
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
  });
  const [, url = ''] = await gateway.printed(/(http:\/\/127\.0\.0\.1:\d+\/graphql)/);
  expect(gateway.output()).not.toContain('streams are loaded');
  const asked = askForParts(url, '{ project(id: 1) { upstreamId ... @defer { name } } }', accepts['v0.2']);
  // Its REST call is held until then.
  await gateway.printed(/streams are loaded/);
  upstream.release();
  const { parts } = await asked;
  expect(mergeParts(await Array.fromAsync(parts)).data).toEqual({ project: { upstreamId: '1', name: 'Project 1' } });
});

test('a client that takes only streams gets an error if what streams need cannot be loaded, and the next one its answer', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/:id/': rows.project(1) });
  const hooks = `import { registerHooks } from 'node:module';
    let failures = 0;
    registerHooks({ resolve: (name, context, next) => {
      if (name !== 'graphql-yoga' || (failures += 1) > 2) return next(name, context);
      throw new Error('no package today');
    } });`;
  await using gateway = runMain([], {
    ...{ PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'error' },
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
  });
  const [, url = ''] = await gateway.printed(/(http:\/\/127\.0\.0\.1:\d+\/graphql)/);
  const askForStream = (): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: 'Bearer phx_test' },
      body: JSON.stringify({ query: '{ project(id: 1) { name } }' }),
    });
  expect((await askForStream()).status).toBe(500);
  await gateway.printed(/no package today/);
  const answer = await askForStream();
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"name":"Project 1"')]);
});
