import { existsSync, globSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { commandNames, helpOf, overview } from '../../src/commands/commands.ts';
import { upstreamErrorCodes } from '../../src/rest/errors.ts';
import { isObject } from '../../src/rest/values.ts';
import { settings } from '../../src/settings/declaration.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings } from '../support/cache.ts';
import { blocksOf, chapterOf, pages, textOf } from '../support/documentation.ts';
import { quick } from '../support/live.ts';
import { startTenants } from '../support/tenants.ts';

const root = new URL('../../', import.meta.url);

test('the README has at most 170 lines, of at most 120 characters', () => {
  const lines = textOf('README.md').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(170);
  expect(lines.filter(({ length }) => length > 120)).toEqual([]);
});

test('the two commands of the README are those of the package', () => {
  const commands = blocksOf('README.md').filter(({ language }) => language === 'sh');
  expect(commands.slice(0, 2).map(({ text }) => text.trim())).toEqual(['npm ci && npm start', 'npm ci && npm test']);
});

/** Where commands are named: pages, helps, messages of the code, and what runs them elsewhere. */
const places = [
  ...pages,
  ...globSync(
    ['src/**/*.ts', 'schema/*', 'examples/github/*', 'examples/*/package.json', 'compose*.yaml', 'Dockerfile'],
    {
      cwd: root,
    },
  ),
].filter((file) => !file.includes('node_modules') && !file.includes('generated'));

/** The scripts of the package that a file speaks of: that of its folder, or of the repository. */
function scriptsFor(file: string): readonly string[] {
  const own = /^(?:bench|examples\/\w+)\//.exec(file)?.[0] ?? '';
  const folders = ['', existsSync(new URL(`${own}package.json`, root)) ? own : ''];
  return folders.flatMap((folder) => {
    const found: unknown = JSON.parse(textOf(`${folder}package.json`));
    return isObject(found) && isObject(found['scripts']) ? Object.keys(found['scripts']) : [];
  });
}

test.each(places)('every command that %s names exists', (file) => {
  const text = `${textOf(file)}\n${file === 'src/commands/commands.ts' ? allHelps() : ''}`;
  const scripts = [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => name);
  expect(scripts.filter((name) => !scriptsFor(file).includes(name))).toEqual([]);
  const ours = [
    ...text.matchAll(/(?:src\/main\.(?:ts|js)|start\.js|workspace-gateway|npm run -s schema --) ([a-z][\w-]*)/g),
  ];
  const called = ours.map(([, name = '']) => name).filter((name) => !(name === 'diff' || commandNames.includes(name)));
  expect(called).toEqual([]);
});

test('every command has a script of its own name, and a help about itself', () => {
  const found: unknown = JSON.parse(textOf('package.json'));
  const scripts = isObject(found) && isObject(found['scripts']) ? found['scripts'] : {};
  for (const name of commandNames) {
    const [first = ''] = name.split(' ');
    expect([name, scripts[name === 'serve' ? 'start' : first]]).toEqual([
      name,
      name === 'serve' ? 'node --max-semi-space-size=16 start.js' : `node start.js ${first}`,
    ]);
    const call = name === 'serve' ? 'npm start' : `npm run -s ${name.replace(' ', ' -- ')}`;
    expect(helpOf(name)).toMatch(new RegExp(`^Usage: ${call}(?: |\\n)`));
  }
  expect(helpOf('explain')).not.toContain('PORT');
});

function allHelps(): string {
  return [overview(), ...commandNames.map(helpOf)].join('\n');
}

test.each(pages)('every link of %s leads to a file, and to a heading if it names one', (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.filter(([, path = '', anchor]) => {
    const file = path === '' ? page : posix.join(posix.dirname(page), path);
    if (!existsSync(new URL(file, root))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

/** The cells of the rows of all tables of the runbook whose first head is this. */
function rowsBelow(head: string): readonly (readonly string[])[] {
  const tables = textOf('docs/runbook.md').matchAll(
    new RegExp(`^\\| ${head} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'gm'),
  );
  return [...tables].flatMap(([, rows = '']) =>
    rows
      .trimEnd()
      .split('\n')
      .map((row) =>
        row
          .slice(2, -2)
          .split(' | ')
          .map((cell) => cell.trim()),
      ),
  );
}

function quotedIn(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
}

/** The sources of the gateway by their paths, without what is generated. */
const sources = new Map(
  globSync('src/**/*.ts', { cwd: root, exclude: ['**/generated'] }).map((path) => [path, textOf(path)]),
);

test('every log line that the runbook quotes is one that the gateway writes, with these fields', () => {
  const rows = rowsBelow('Log line');
  const quoted = rows.flatMap(([lines, fields]) => quotedIn(lines).map((line) => ({ line, fields: quotedIn(fields) })));
  expect(quoted.length).toBeGreaterThan(30);
  const all = [...sources.values()].join('\n');
  const unwritten = quoted.filter(({ line, fields }) => {
    // An ellipsis stands for the part that varies.
    const parts = line
      .split('…')
      .map((part) => part.trim())
      .filter((part) => part.length > 1);
    return (
      parts.length === 0 || [...parts, ...fields].some((part) => !new RegExp(`(?<![\\w-])${part}(?![\\w-])`).test(all))
    );
  });
  expect(unwritten).toEqual([]);
});

test('every line that the gateway logs stands in the runbook', () => {
  const quoted = new Set(rowsBelow('Log line').flatMap(([lines]) => quotedIn(lines)));
  const pattern = /\b#?log\(\s*'(?:info|warn|error)',\s*(?:'([^']+)'|`([^`]+)`)/g;
  const written = [...sources.values()].flatMap((text) =>
    [...text.matchAll(pattern)].map(([, plain, template = '']) => plain ?? template.replaceAll(/\$\{[^{}]*\}/g, '…')),
  );
  expect(written.length).toBeGreaterThan(15);
  expect(written.filter((line) => !quoted.has(line))).toEqual([]);
});

test('no comment begins with What, Whether or How', () => {
  const files = globSync('{src,test,bench,tools,workspace}/**/*.{ts,tsx,js}', {
    cwd: root,
    exclude: ['**/generated', '**/node_modules'],
  });
  expect(files.length).toBeGreaterThan(500);
  const comments = files.flatMap((path) =>
    [...textOf(path).matchAll(/(?:\/\*\*\s+(?:\* )?|^ *\/\/ )((?:What|Whether|How)\b.*)/gm)].map(
      ([, comment]) => `${path}: ${comment}`,
    ),
  );
  expect(comments).toEqual([]);
});

test('every metric and every alert of the runbook is one that there is', () => {
  const text = textOf('docs/runbook.md');
  const metrics = new Set([...textOf('docs/monitoring.md').matchAll(/`(gateway_\w+)/g)].map(([, name = '']) => name));
  const alerts = textOf('examples/prometheus/rules.yaml');
  const named = [...text.matchAll(/`(gateway_\w+|Gateway\w+)/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !metrics.has(name) && !alerts.includes(`alert: ${name}\n`))).toEqual([]);
});

test('every path in the layout of ARCHITECTURE.md exists', () => {
  const layout = blocksOf('ARCHITECTURE.md').find(({ language }) => language === '');
  const paths = [...(layout?.text ?? '').matchAll(/^([\w./]+)\s{2,}/gm)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('every folder of src/, and every file beside them, stands in the layout of ARCHITECTURE.md', () => {
  const layout = blocksOf('ARCHITECTURE.md').find(({ language }) => language === '');
  const entries = readdirSync(new URL('src/', root), { withFileTypes: true })
    .filter(({ name }) => !name.endsWith('.d.ts'))
    .map((entry) => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`);
  expect(entries.filter((entry) => layout?.text.includes(entry) !== true)).toEqual([]);
});

test('every hop of the way of an operation is a function of the file that is named, and they are few', () => {
  const rows = [...textOf('ARCHITECTURE.md').matchAll(/^\| (\d+|–) \| `(#?\w+)` \| `([\w./-]+)` \|/gm)];
  const hops = rows.filter(([, number]) => number !== '–');
  expect(hops.map(([, number]) => Number(number))).toEqual(hops.map((_, at) => at + 1));
  const files = new Set(rows.map(([, , , file = '']) => file));
  expect(hops.length).toBeGreaterThan(38);
  expect(hops.length).toBeLessThanOrEqual(70);
  expect(files.size).toBeLessThanOrEqual(42);
  const missing = rows.filter(([, , name = '', file = '']) => !isDeclared(name, textOf(`src/${file}`)));
  expect(missing.map(([, , name, file]) => `${name} in ${file}`)).toEqual([]);
});

function isDeclared(name: string, source: string): boolean {
  return new RegExp(
    `(?:^|function |class |const |async |  )${name}(?:[(<:]| =|\\s(?:implements|extends|\\{))`,
    'm',
  ).test(source);
}

test('every error code that the gateway can answer is explained', () => {
  const explained = textOf('docs/settings.md') + textOf('docs/persisted-documents.md');
  // The codes of connections reach no client: what sends a call turns them into errors of the upstream.
  const written = globSync('src/**/*.ts', { cwd: root, exclude: ['**/generated', 'src/rest/transport'] }).flatMap(
    (file) =>
      [...textOf(file).matchAll(/(?:^ {2}\| |code: |code = |coded\(error, )'([A-Z][A-Z_]+)'/gm)].map(
        ([, code = '']) => code,
      ),
  );
  const codes = [...written, ...upstreamErrorCodes];
  for (const code of ['UPSTREAM_TIMEOUT', 'GRAPHQL_PARSE_FAILED', 'LIMIT_EXCEEDED', 'INTERNAL_SERVER_ERROR'])
    expect(codes).toContain(code);
  expect([...new Set(codes)].filter((code) => !explained.includes(`\`${code}\``))).toEqual([]);
});

test('the limits that are explained are the settings and their defaults', () => {
  const limits = chapterOf('docs/settings.md', '## Limits');
  const rows = [...limits.matchAll(/^\| [^|]+ \| ([\d, ]+) \| (`[A-Z_`, ]+`) \|/gm)];
  const told = rows.flatMap(([, defaults = '', names = '']) => {
    const values = defaults.split(', ');
    return names.split(', ').map((name, at) => [name.replaceAll('`', ''), values[at]] as const);
  });
  expect(told.length).toBeGreaterThan(15);
  const fallbacks = new Map(Object.entries(settings).map(([name, { fallback }]) => [name, fallback]));
  for (const [name, value] of told) expect([name, fallbacks.get(name)]).toEqual([name, value]);
  const own = Object.keys(settings).filter((name) => name.startsWith('MAX_'));
  expect(own.filter((limit) => !told.some(([name]) => name === limit))).toEqual([]);
});

test('every setting stands in .env.example, below headings that name pages which exist', () => {
  const example = textOf('.env.example');
  const shown = new Set([...example.matchAll(/^# (\w+)=/gm)].map(([, name = '']) => name));
  expect(Object.keys(settings).filter((name) => !shown.has(name))).toEqual([]);
  const named = [...example.matchAll(/^#### .*: (docs\/[\w-]+\.md)(?:#(\S+))?$/gm)];
  expect(named.length).toBeGreaterThan(8);
  const broken = named.filter(
    ([, page = '', anchor]) =>
      !existsSync(new URL(page, root)) || (anchor !== undefined && !anchorsOf(page).includes(anchor)),
  );
  expect(broken.map(([heading]) => heading)).toEqual([]);
});

test('every limit says what it protects', () => {
  const rows = [...chapterOf('docs/settings.md', '## Limits').matchAll(/^\| (?!Limit )(.*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(15);
  const silent = rows.filter(([, row = '']) => (row.split(' | ').at(-1) ?? '').trim() === '');
  expect(silent).toEqual([]);
});

test('the metrics that are explained are among those that the gateway has, and each has a help', async () => {
  const upstream = { url: 'http://127.0.0.1:9' };
  // A Redis that is not there is enough: metrics say so.
  const shared = {
    budget: budgetOf({ rest: '480/60' }, { replicas: 2 }),
    persisted: { redisUrl: 'redis://127.0.0.1:9' },
  };
  await using gateway = await startTenants(upstream, {}, { cache: cacheSettings, live: quick, ...shared });
  const metrics = await (await fetch(new URL('/metrics', gateway.url))).text();
  const own = [...metrics.matchAll(/^# TYPE (gateway_\w+) /gm)].map(([, name = '']) => name);
  const table = chapterOf('docs/monitoring.md', '## Metrics');
  const told = [...table.matchAll(/`(gateway_\w+)[{`]/g)].map(([, name = '']) => name);
  expect(told.length).toBeGreaterThan(15);
  expect(told.filter((name) => !own.includes(name))).toEqual([]);
  // The page leaves the others to the help of each metric.
  const explained = new Set([...metrics.matchAll(/^# HELP (gateway_\w+) \S.{10,}/gm)].map(([, name = '']) => name));
  expect(own.filter((name) => !explained.has(name))).toEqual([]);
});

test('the fields that are explained of the log line of an operation are among those that it has', () => {
  const rows = [...chapterOf('docs/monitoring.md', '## Logs').matchAll(/^\| (`.*?) \|/gm)];
  const fields = rows.flatMap(([, cell]) => quotedIn(cell));
  expect(fields.length).toBeGreaterThan(8);
  const [, report = ''] =
    /interface OperationReport \{([^]*?)\n\}/.exec(textOf('src/operation/operation-report.ts')) ?? [];
  expect(fields.filter((field) => !new RegExp(`readonly ${field}\\??:`).test(report))).toEqual([]);
});

test('no command needs another Node than the one that npm ci installs', () => {
  const commands = [...pages, 'bench/README.md'].flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => language === 'sh' || language === 'console')
      .flatMap(({ text }) => text.split('\n').map((line) => line.replace(/^\$ /, ''))),
  );
  expect(commands).toContain('npm ci && npm start');
  expect(commands.filter((command) => /(?:^|&& )node /.test(command))).toEqual([]);
});

/** The anchors of a file that links may name: its headings as GitHub writes them. */
function anchorsOf(file: string): readonly string[] {
  return [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('no example uses a variable that it does not set itself', () => {
  for (const page of pages) {
    for (const { text, language } of blocksOf(page)) {
      if (language !== 'sh') continue;
      const used = [...text.matchAll(/\$\{?([A-Z]\w*)/g)].map(([, name = '']) => name);
      expect({ page, unset: used.filter((name) => !new RegExp(`\\b${name}=`).test(text)) }).toEqual({
        page,
        unset: [],
      });
    }
  }
});
