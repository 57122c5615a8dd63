import { ConfigError } from '../config-error.ts';
import { settings } from '../settings/declaration.ts';
import type { Command } from './output.ts';

/** An argument or an option of a command, with its meaning. */
type Argument = readonly [name: string, meaning: string];

interface CommandEntry {
  readonly about: string;
  readonly arguments: readonly Argument[];
  readonly settings: RegExp;
  /** Loads the code of the command, which takes up to a second. Undefined for commands that serve. */
  readonly load?: () => Promise<Command>;
}

const json: Argument = ['[--json]', 'prints JSON'];
const limits = 'MAX_PAGE_SIZE|MAX_UPSTREAM_CALLS|MAX_UPSTREAM_ROWS|MAX_ANSWER_OBJECTS|INCREMENTAL';
const files = 'GraphQL documents and manifests: paths of files or folders, or globs in quotes';

/**
 * Every command by its name, in the order in which `--help` lists them. The scripts in package.json are named after the
 * first words of commands, except that `serve` is `start`.
 */
const commands: Readonly<Record<string, CommandEntry>> = {
  serve: {
    about:
      'Serves the gateway. Without UPSTREAM_URL it also starts an embedded workspace, unless NODE_ENV=production. This command is the default.',
    arguments: [
      ['[--check]', 'checks all settings and files, and exits. It contacts no other server'],
      ['[--demo-tenants]', 'serves the embedded workspace to two tenants, and prints a token for each of three users'],
    ],
    settings: /(?:)/,
  },
  workspace: { about: 'Serves the embedded workspace alone.', arguments: [], settings: /^WORKSPACE_/ },
  explain: {
    about: 'Prints the REST calls that an operation would make. It makes none.',
    arguments: [
      ['FILE', 'a GraphQL document'],
      ['[--variables FILE]', 'a file with the values of its variables, as a JSON object'],
      ['[--operation NAME]', 'the name of the operation, if the document has several'],
      json,
      ['[--mcp]', 'prints the operation as a tool for agents, with hints for a better one'],
    ],
    settings: new RegExp(`^(?:${limits})$`),
    load: async () => (await import('./explain.ts')).explain,
  },
  'check-operations': {
    about: 'Checks that operations are valid and within the limits, and that a tenant may run them.',
    arguments: [
      ['FILE…', files],
      ['[--tenant NAME]', 'a tenant in the file of UPSTREAM_KEYS'],
      ['[--role ROLE…]', 'a role of that tenant, if its entry has roles; several may be named'],
      json,
      ['[--mcp]', 'adds hints for better tools for agents. With --json it also adds the tools'],
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
    about: 'Prints the changes of the public schema, and the documents that they break.',
    arguments: [
      ['OLD.graphql', 'the old schema, as SDL'],
      ['[--documents FILE…]', files],
      ['[--usage FILE]', 'a saved answer of GET /admin/usage. Also prints the clients that breaking changes affect'],
      json,
    ],
    settings: /^INCREMENTAL$/,
    load: async () => (await import('./schema.ts')).schemaDiff,
  },
  drift: {
    about: 'Prints the differences between the upstream and the OpenAPI document. It reads each GET operation once.',
    arguments: [json],
    settings: /^(?:DRIFT_KEY_FILE|UPSTREAM_(?:URL|CA|CLIENT_CERT|CLIENT_KEY)|[A-Z]+_PROXY|OPERATION_DEADLINE_MS)$/,
    load: async () => (await import('./drift.ts')).drift,
  },
};

export const commandNames: readonly string[] = Object.keys(commands);

/** The command that a command line names; `serve` if it names none. Throws a ConfigError for an unknown name. */
export function commandIn(words: readonly string[]): { readonly name: string; readonly rest: readonly string[] } {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    if (Object.hasOwn(commands, name)) return { name, rest: words.slice(length) };
  }
  const [first] = words;
  if (first === undefined || first.startsWith('-')) return { name: 'serve', rest: words };
  throw new ConfigError(`${first}: there is no such command; expected ${alternatives(commandNames)}`);
}

/** Names as a list with "or". Called only for an error, because the first list that a process formats takes 20 ms. */
function alternatives(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names);
}

/** Loads the code of a command; undefined for commands that serve. */
export function loadCommand(name: string): Promise<Command> | undefined {
  return commands[name]?.load?.();
}

/** The text of `--help` without a command: all commands and all settings. */
export function overview(): string {
  const rows = Object.entries(commands).map(([name, { about }]): Argument => [withoutDashes(callOf(name)), about]);
  return `Commands (add --help to one for its arguments and settings):\n${table(rows)}\n\n${helpOf('serve')}`;
}

/** The text of `--help` for a command. */
export function helpOf(name: string): string {
  const entry = commands[name];
  if (entry === undefined) return overview();
  const own = Object.values(settings).filter((setting) => entry.settings.test(setting.name));
  const rows = own.map(({ name: variable, meaning, fallback }): Argument => {
    return [variable, fallback === undefined ? meaning : `${meaning}. Default: ${fallback}`];
  });
  return [
    `Usage: ${withoutDashes([callOf(name), ...entry.arguments.map(([argument]) => argument)].join(' '))}`,
    `\n${entry.about}`,
    ...(entry.arguments.length === 0 ? [] : [`\n${table(entry.arguments)}`]),
    `\nSettings, from the environment or a file .env:\n${table(rows)}`,
  ].join('\n');
}

/**
 * The words that call a command in a shell. In this repository they call a script of package.json, because npm finds
 * the Node that `npm ci` installed.
 */
function callOf(name: string): string {
  if (!import.meta.filename.endsWith('.ts')) return `workspace-gateway ${name}`;
  if (name === 'serve') return 'npm start --';
  const [script = '', ...others] = name.split(' ');
  return ['npm run -s', script, '--', ...others].join(' ');
}

/** A call without the dashes at its end. Those dashes are of use only if arguments follow them. */
function withoutDashes(call: string): string {
  return call.replace(/ --$/, '');
}

function table(rows: readonly Argument[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join('\n');
}
