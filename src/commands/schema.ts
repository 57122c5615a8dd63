import { parseArgs } from 'node:util';
import { buildSchema, type GraphQLSchema, introspectionFromSchema, printSchema } from 'graphql';
import { ConfigError } from '../config-error.ts';
import { createReadableSchema } from '../schema.ts';
import { readPlainConfig } from '../settings/config.ts';
import type { SettingsReader } from '../settings/settings-reader.ts';
import { documentFilesAt, readText } from './documents.ts';
import { type CommandResult, counted } from './output.ts';
import { type HitClient, readUsage } from './recorded-usage.ts';
import {
  type ChangeImpact,
  type ClientDocument,
  type Findings,
  findingsOf,
  isBroken,
  type Severity,
} from './schema-changes.ts';

/** `schema [--json]`: prints the public schema as SDL, or as the result of introspection. */
export function schema(args: string[], settings: SettingsReader): CommandResult {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const served = createReadableSchema(readPlainConfig(settings).incremental);
  const text = values.json === true ? JSON.stringify(introspectionFromSchema(served), null, 2) : printSchema(served);
  return { text, exitCode: 0 };
}

/**
 * `schema diff OLD.graphql [--documents FILE…] [--usage FILE] [--json]`: prints the changes of the public schema since
 * OLD, and the clients that they affect. Fails if a document breaks; without documents, if any change is breaking.
 */
export function schemaDiff(args: string[], settings: SettingsReader): CommandResult {
  const { old, files, usage, json } = argumentsOf(args);
  const { incremental } = readPlainConfig(settings);
  const before = oldSchema(old);
  const after = buildSchema(printSchema(createReadableSchema(incremental)));
  const findings = findingsOf(
    before,
    after,
    files?.flatMap(clientsIn),
    usage === undefined ? undefined : readUsage(usage),
  );
  const text = json ? JSON.stringify(findings, null, 2) : describe(findings);
  return { text, exitCode: isBroken(findings) ? 1 : 0 };
}

/** Parses the command line. The first argument is the old schema. Those after `--documents` are documents. */
function argumentsOf(args: string[]) {
  const options = {
    json: { type: 'boolean' },
    documents: { type: 'string', multiple: true },
    usage: { type: 'string' },
  } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [old, ...others] = positionals;
  const isFirst = old !== undefined && args.find((arg) => !arg.startsWith('-')) === old;
  if (!isFirst || (values.documents === undefined && others.length > 0))
    throw new ConfigError(
      'schema diff: expected one file with the old schema as SDL, and other files only after --documents',
    );
  const { documents, usage, json = false } = values;
  return { old, files: documents && [...documents, ...others], usage, json };
}

function oldSchema(file: string): GraphQLSchema {
  const text = readText(file);
  try {
    return buildSchema(text);
  } catch (error) {
    throw new ConfigError(
      `${file}: expected a schema as SDL, but it cannot be used: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

function clientsIn(pattern: string): readonly ClientDocument[] {
  return documentFilesAt(pattern).flatMap(({ file, documents }) => documents.map((one) => ({ file, ...one })));
}

function describe({ changes, invalid, documents }: Findings): string {
  const breaking = ofSeverity(changes, 'breaking');
  const used = breaking.filter(({ usedBy }) => usedBy.length > 0);
  const unused = breaking.filter(({ usedBy }) => usedBy.length === 0);
  const groups = [
    group('breaking, and used', used),
    group(documents === undefined ? 'breaking' : 'breaking, but used by none of the documents', unused),
    group('dangerous', ofSeverity(changes, 'dangerous')),
    group('safe', ofSeverity(changes, 'safe')),
    block('no longer valid', invalid.flatMap(faultsOf)),
  ];
  const sums = `${counted(changes.length, 'change')}: ${breaking.length} breaking`;
  const summary =
    documents === undefined ? sums : `${sums}, ${used.length} of them used by ${counted(documents, 'document')}`;
  return [...groups.filter((lines) => lines !== ''), summary].join('\n\n');
}

function ofSeverity(changes: readonly ChangeImpact[], severity: Severity): readonly ChangeImpact[] {
  return changes.filter((change) => change.severity === severity);
}

function faultsOf({ document, errors }: Findings['invalid'][number]): readonly string[] {
  return errors.map((error) => `${document}: ${error}`);
}

function group(title: string, changes: readonly ChangeImpact[]): string {
  const lines = changes.flatMap(({ description, usedBy, clients }) => [
    oneLine(description),
    ...usedBy.map((document) => `  used by ${document}`),
    ...(clients ?? []).map(sentBy),
    ...(clients?.length === 0 ? ['  sent by no client in the usage'] : []),
  ]);
  return block(title, lines);
}

function sentBy({ client, version, operations, lastAt }: HitClient): string {
  const name = client === '' ? 'clients without a name' : `${client} ${version}`.trim();
  return `  sent by ${name}: ${counted(operations, 'operation')}, the last at ${lastAt}`;
}

function block(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** The first line of a text, with `…` if there are more. graphql quotes changed descriptions in full, on many lines. */
function oneLine(text: string): string {
  const [first = ''] = text.split('\n', 1);
  return first.length < text.length ? `${first} …` : first;
}
