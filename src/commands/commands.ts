import { settings } from '../settings/declaration.ts';
import { ConfigError } from '../settings/settings.ts';
import type { Command } from './command.ts';

/** An argument or an option of a command, and what it means. */
type Argument = readonly [name: string, meaning: string];

/** A command, as its help tells of it. */
interface CommandEntry {
  readonly about: string;
  readonly arguments: readonly Argument[];
  /** The names of the settings that it reads. */
  readonly settings: RegExp;
  /** Loads what runs it: all that the gateway is made of takes most of a second. Undefined for one that serves. */
  readonly load?: () => Promise<Command>;
}

const json: Argument = ['[--json]', 'prints JSON'];
const limits = 'MAX_PAGE_SIZE|MAX_UPSTREAM_CALLS|MAX_UPSTREAM_ROWS|MAX_ANSWER_OBJECTS|INCREMENTAL';
const files = 'GraphQL documents and manifests: paths of files or folders, or globs in quotes';

/** Every command by its name, which is that of a script of package.json, too; the first is the one without a name. */
const commands: Readonly<Record<string, CommandEntry>> = {
  serve: {
    about:
      'Serves the gateway; without UPSTREAM_URL over an embedded workspace, but not in production. It is the default.',
    arguments: [
      [
        '[--check]',
        'reads all settings and files, says what is wrong, and ends; asks neither the upstream nor anyone else',
      ],
      ['[--demo-tenants]', 'serves the embedded workspace to two tenants, and prints a token of each'],
    ],
    settings: /(?:)/,
  },
  workspace: { about: 'Serves the embedded workspace alone.', arguments: [], settings: /^WORKSPACE_/ },
  explain: {
    about: 'Says which REST calls an operation makes. Nothing is called.',
    arguments: [
      ['FILE', 'a GraphQL document'],
      ['[--variables FILE]', 'a JSON object with the values of its variables'],
      ['[--operation NAME]', 'which of its operations'],
      json,
      ['[--mcp]', 'prints the tool that the operation is for agents, and hints for a better one'],
    ],
    settings: new RegExp(`^(?:${limits})$`),
    load: async () => (await import('./explain.ts')).explain,
  },
  'check-operations': {
    about: 'Says if operations are valid, what they cost at most, and if a tenant may run them.',
    arguments: [
      ['FILE…', files],
      ['[--tenant NAME]', 'a tenant in the file of UPSTREAM_KEYS'],
      json,
      ['[--mcp]', 'adds hints for better tools for agents; with --json the tools, too'],
    ],
    settings: new RegExp(`^(?:${limits}|UPSTREAM_KEYS)$`),
    load: async () => (await import('./check-operations.ts')).checkOperations,
  },
  schema: {
    about: 'Prints the public schema as SDL.',
    arguments: [['[--json]', 'prints the result of introspection']],
    settings: /^INCREMENTAL$/,
    load: async () => (await import('./schema.ts')).schema,
  },
  'schema diff': {
    about: 'Says what has changed in the public schema, and which documents that breaks.',
    arguments: [
      ['OLD.graphql', 'the schema from before, as SDL'],
      ['[--documents FILE…]', files],
      ['[--usage FILE]', 'what GET /admin/usage has answered: says which clients are hit'],
      json,
    ],
    settings: /^INCREMENTAL$/,
    load: async () => (await import('./schema-diff.ts')).schemaDiff,
  },
  drift: {
    about: 'Says how the upstream differs from the OpenAPI document: reads each GET operation once.',
    arguments: [json],
    settings: /^(?:DRIFT_KEY_FILE|UPSTREAM_(?:URL|CA|CLIENT_CERT|CLIENT_KEY)|[A-Z]+_PROXY|OPERATION_DEADLINE_MS)$/,
    load: async () => (await import('./drift.ts')).drift,
  },
};

/** The names of all commands. */
export const commandNames: readonly string[] = Object.keys(commands);

/** The request in the words of a command line. */
interface Asked {
  /** One of the names of commands. */
  readonly name: string;
  /** The words behind it. */
  readonly rest: readonly string[];
}

/** The command that a command line names; `serve` if it names none. Throws a ConfigError for an unknown one. */
export function commandIn(words: readonly string[]): Asked {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    if (Object.hasOwn(commands, name)) return { name, rest: words.slice(length) };
  }
  const [first] = words;
  if (first === undefined || first.startsWith('-')) return { name: 'serve', rest: words };
  throw new ConfigError(`${first}: there is no such command; expected ${listFormat.format(commandNames)}`);
}

const listFormat = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Loads what runs a command; undefined for one that serves. */
export function loadCommand(name: string): Promise<Command> | undefined {
  return commands[name]?.load?.();
}

/** The text of `--help` without a command: all commands and all settings. */
export function overview(): string {
  const rows = Object.entries(commands).map(([name, { about }]): Argument => [bare(callOf(name)), about]);
  return `Commands, each of which tells more with --help:\n${table(rows)}\n\n${helpOf('serve')}`;
}

/** The text of `--help` for a command. */
export function helpOf(name: string): string {
  const entry = commands[name];
  if (entry === undefined) return overview();
  const own = Object.values(settings).filter((setting) => entry.settings.test(setting.name));
  const rows = own.map(({ name: variable, meaning, fallback }): Argument => {
    return [variable, fallback === undefined ? meaning : `${meaning} (${fallback})`];
  });
  return [
    `Usage: ${bare([callOf(name), ...entry.arguments.map(([argument]) => argument)].join(' '))}`,
    `\n${entry.about}`,
    ...(entry.arguments.length === 0 ? [] : [`\n${table(entry.arguments)}`]),
    `\nSettings, from the environment or a file .env:\n${table(rows)}`,
  ].join('\n');
}

/** The words that run a command: a script of package.json in this repository, which finds the Node of `npm ci`. */
function callOf(name: string): string {
  if (!import.meta.filename.endsWith('.ts')) return `workspace-gateway ${name}`;
  if (name === 'serve') return 'npm start --';
  const [script = '', ...others] = name.split(' ');
  return ['npm run -s', script, '--', ...others].join(' ');
}

/** A call without the dashes that stand before its arguments, if it has none. */
function bare(call: string): string {
  return call.replace(/ --$/, '');
}

function table(rows: readonly Argument[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join('\n');
}
