import { parseArgs } from 'node:util';
import { type DocumentNode, type GraphQLSchema, Kind, NoDeprecatedCustomRule, validate } from 'graphql';
import type { Config } from '../config-types.ts';
import { ManifestError, readManifest } from '../http/persisted/manifest.ts';
import { fragmentsOf } from '../plan/selection.ts';
import { createSchema } from '../schema.ts';
import { ConfigError } from '../settings.ts';
import type { Outcome } from './command.ts';
import { checkDocument, lineOf, readText } from './documents.ts';
import { counted, range } from './table.ts';
import { worstPlan } from './worst-case.ts';

/** What is said of one operation. */
interface Verdict {
  readonly line: string;
  readonly isValid: boolean;
  readonly isDear: boolean;
}

/** `check FILE…`: whether operations are valid, and within the limits with their defaults and with any other variables. */
export function check(args: string[], config: Config): Outcome {
  const { positionals: files } = parseArgs({ args, options: {}, allowPositionals: true });
  if (files.length === 0) throw new ConfigError('check: expected files, GraphQL documents or manifests of them');
  const schema = createSchema();
  const blocks: string[] = [];
  const verdicts: Verdict[] = [];
  for (const file of files) {
    const found = documentsIn(file).flatMap(({ name, text }) => judge(schema, name, text, config));
    verdicts.push(...found);
    blocks.push([file, ...found.map(({ line }) => `  ${line}`)].join('\n'));
  }
  const invalid = verdicts.filter(({ isValid }) => !isValid).length;
  const dear = verdicts.filter(({ isDear }) => isDear).length;
  const summary = `${counted(verdicts.length, 'operation')}: ${invalid} invalid, ${dear} over budget`;
  return { text: [...blocks, '', summary].join('\n'), exitCode: invalid + dear === 0 ? 0 : 1 };
}

function documentsIn(file: string): readonly { readonly name: string; readonly text: string }[] {
  try {
    const entries = readManifest(file, readText(file));
    return entries.map(({ id, text }) => ({ name: /\.(?:graphql|gql)$/i.test(file) ? 'document' : id, text }));
  } catch (error) {
    throw error instanceof ManifestError ? new ConfigError(error.message) : error;
  }
}

function judge(schema: GraphQLSchema, name: string, text: string, config: Config): readonly Verdict[] {
  const checked = checkDocument(schema, text);
  if ('faults' in checked) {
    return [{ line: `${name}: invalid, ${checked.faults.join('\n    ')}`, isValid: false, isDear: false }];
  }
  const { document } = checked;
  const deprecated = validate(schema, document, [NoDeprecatedCustomRule]).map(lineOf);
  return judgeOperations(schema, name, document, config).map((verdict) => ({
    ...verdict,
    line: [verdict.line, ...deprecated.map((fault) => `  deprecated, ${fault}`)].join('\n  '),
  }));
}

function judgeOperations(
  schema: GraphQLSchema,
  name: string,
  document: DocumentNode,
  { maxPageSize, maxUpstreamCalls, maxUpstreamRows }: Config,
): readonly Verdict[] {
  const fragments = fragmentsOf(document);
  return document.definitions.flatMap((operation): readonly Verdict[] => {
    if (operation.kind !== Kind.OPERATION_DEFINITION) return [];
    const plan = worstPlan({ schema, fragments, operation, maxPageSize });
    const called = operation.name?.value ?? name;
    if (plan === undefined) return [{ line: `${called}: invalid, no variables fit it`, isValid: false, isDear: false }];
    const { lower, upper, rows, waves } = plan;
    const isDear = upper > maxUpstreamCalls || rows > maxUpstreamRows;
    const cost = `${counted(range(lower, upper), 'call')}, ${counted(waves, 'wave')}, at most ${counted(rows, 'row')}`;
    const limits = `${counted(maxUpstreamCalls, 'call')} and ${counted(maxUpstreamRows, 'row')}`;
    const line = `${called}: ${isDear ? 'over budget' : 'ok'}, ${cost}${isDear ? ` (the limits are ${limits})` : ''}`;
    return [{ line, isValid: true, isDear }];
  });
}
