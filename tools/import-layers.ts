import { readdirSync } from 'node:fs';
import type { OxlintOverride } from 'oxlint';

/** The entries of src/, highest first. Each may import what is below it, but nothing beside or above it. */
const layers = [
  ['main.ts'],
  ['v8.js'],
  ['process'],
  ['cluster', 'commands', 'demo'],
  ['server'],
  ['gateway.ts'],
  ['settings'],
  ['mcp'],
  ['http'],
  ['telemetry'],
  ['schema.ts'],
  ['operation'],
  ['auth'],
  ['resolvers'],
  ['plan'],
  ['look-ahead'],
  ['graphql'],
  ['context.ts'],
  ['answer-counter.ts'],
  ['live'],
  ['loaders'],
  ['follow.ts'],
  ['rest'],
  ['redis.ts'],
  ['redis-address.ts'],
  ['log.ts', 'read-text.ts'],
  [
    'config-error.ts',
    'error-text.ts',
    'event-loop-yield.ts',
    'late-packages.ts',
    'maybe-promise.ts',
    'memoize.ts',
    'memory.ts',
    'recent-map.ts',
    'tally.ts',
    'version.ts',
  ],
];

/** The embedded workspace, a package of its own. It imports nothing of the gateway. Only command-line.ts imports it. */
const service = 'embedded-workspace';

interface Restriction {
  readonly regex: string;
  readonly message: string;
}

const process: Restriction = {
  regex: '^(node:)?process$',
  message: '`process` is a global; only src/process/command-line.ts reads its environment.',
};
const graphql: Restriction = {
  regex: '^(@graphql-.+/.+|graphql.*)$',
  message: 'Rows and calls know nothing of GraphQL.',
};

const outside: Restriction = {
  regex: `^(${service}$|(\\.\\./)+workspace/)`,
  message: 'Only src/process/command-line.ts starts the embedded workspace.',
};
const gateway: Restriction = {
  regex: '^(\\.\\./)+src/',
  message: 'The embedded workspace knows nothing of the gateway.',
};

/**
 * The rules by which imports in `source`, the folder src/, only point down. Throws if an entry has no layer. Ambient
 * declarations need none, because no file imports them.
 */
export function importLayers(source: URL): OxlintOverride[] {
  const known = new Set(layers.flat());
  const stray = readdirSync(source).find((entry) => !known.has(entry) && !entry.endsWith('.d.ts'));
  // Of the rest of the gateway, connections know only the memory for what they receive.
  const beyondTransport = layers.flat().filter((entry) => entry !== 'memory.ts');
  if (stray !== undefined) throw new Error(`src/${stray} has no layer: give it one in tools/import-layers.ts`);
  return [
    ...layers.flatMap((layer, height) => layer.map((entry) => rulesOf(entry, layers.slice(0, height + 1).flat()))),
    // Not `outside` and `process`: this file reads the environment and starts the embedded workspace.
    restrict('src/process/command-line.ts', [above('process', ['main.ts', 'v8.js'])]),
    restrict('src/rest/transport/**', [above('rest', beyondTransport), outside, process, graphql]),
    restrict('workspace/**', [gateway, process, graphql]),
  ];
}

function rulesOf(entry: string, higher: readonly string[]): OxlintOverride {
  const files = isFile(entry) ? `src/${entry}` : `src/${entry}/**`;
  const restrictions = [above(entry, higher), outside, process];
  if (entry === 'live' || entry === 'loaders' || entry === 'rest') restrictions.push(graphql);
  return restrict(files, restrictions);
}

function restrict(files: string, patterns: Restriction[]): OxlintOverride {
  return { files: [files], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

/** Forbids `entry` to import `entries`. It is one of them, because imports within a folder must not name the folder. */
function above(entry: string, entries: readonly string[]): Restriction {
  return {
    regex: importsOf(entry, entries),
    message: `Imports point down only; src/${entry} is not above ${entries.join(', ')}.`,
  };
}

/** A pattern of the specifiers with which a file of `entry` imports `entries`. */
function importsOf(entry: string, entries: readonly string[]): string {
  const names = entries.map((name) => (isFile(name) ? name.replace('.', '\\.') : `${name}/`));
  return `^${isFile(entry) ? '\\./' : '(\\.\\./)+'}(${names.join('|')})`;
}

function isFile(entry: string): boolean {
  return /\.[jt]s$/.test(entry);
}
