import { parseArgs } from 'node:util';
import { createReadableSchema } from '../schema.ts';
import { type PlainConfig, readPlainConfig } from '../settings/config.ts';
import { ConfigError, type SettingsReader } from '../settings/settings.ts';
import { documentFilesAt } from './documents.ts';
import { costText, counted, limitsFor, type Outcome } from './output.ts';
import { judge, neededOfTools, tenantCalled, type Verdict } from './verdicts.ts';

interface CheckedFile {
  readonly file: string;
  readonly operations: readonly Verdict[];
}

/** The number of operations that were checked, and of those that failed. */
interface Sums {
  readonly operations: number;
  readonly invalid: number;
  readonly overBudget: number;
  /** The number of operations that the named tenant may run; undefined if no tenant was named. */
  readonly runnable?: number;
}

/**
 * `check-operations FILE… [--tenant NAME [--role ROLE…]] [--json] [--mcp]`: checks that operations are valid, and
 * within the limits both with their defaults and with any other variables.
 */
export function checkOperations(args: string[], settings: SettingsReader): Outcome {
  const { values, positionals } = parseArgs({
    args,
    options: {
      json: { type: 'boolean' },
      mcp: { type: 'boolean' },
      tenant: { type: 'string' },
      role: { type: 'string', multiple: true },
    },
    allowPositionals: true,
  });
  const { tenant: tenantName, role: roles = [] } = values;
  if (tenantName === undefined && roles.length > 0)
    throw new ConfigError('--role: expected --tenant beside it, because roles are those of a tenant');
  const tenant = tenantName === undefined ? undefined : tenantCalled(tenantName, roles, settings);
  const config = readPlainConfig(settings);
  if (positionals.length === 0)
    throw new ConfigError('check-operations: expected files with GraphQL documents, or manifests');
  const asTools = values.mcp === true;
  const schema = createReadableSchema(config.incremental);
  const files = positionals.flatMap(documentFilesAt).map(({ file, documents }) => ({
    file,
    operations: documents.flatMap(({ name, text }) => judge(schema, name, text, config, { tenant, asTools })),
  }));
  const sums = sumsOf(files.flatMap(({ operations }) => operations));
  const text = values.json === true ? JSON.stringify({ files, ...sums }, null, 2) : describe(files, sums, config);
  return { text, exitCode: sums.invalid + sums.overBudget === 0 ? 0 : 1 };
}

function sumsOf(verdicts: readonly Verdict[]): Sums {
  const invalid = verdicts.filter(({ errors }) => errors.length > 0).length;
  const overBudget = verdicts.filter((verdict) => verdict.overBudget).length;
  const asked = verdicts.filter(({ refused }) => refused !== undefined);
  const runnable = asked.filter(({ refused, errors }) => refused?.length === 0 && errors.length === 0).length;
  return { operations: verdicts.length, invalid, overBudget, ...(asked.length > 0 && { runnable }) };
}

function describe(files: readonly CheckedFile[], sums: Sums, config: PlainConfig): string {
  const blocks = files.map(({ file, operations }) =>
    [file, ...operations.map((verdict) => `  ${lineOf(verdict, config)}`)].join('\n'),
  );
  const { operations, invalid, overBudget, runnable } = sums;
  const ofTenant = runnable === undefined ? '' : `, ${runnable} for this tenant`;
  const summary = `${counted(operations, 'operation')}: ${invalid} invalid, ${overBudget} over budget${ofTenant}`;
  return [...blocks, '', summary].join('\n');
}

/** Formats lists such as `150 calls, 10000 rows and 50000 objects`. */
const listFormat = new Intl.ListFormat('en-GB');

function lineOf(verdict: Verdict, config: PlainConfig): string {
  const { name, deprecated, refused = [] } = verdict;
  const further = [
    ...deprecated.map((use) => `deprecated, ${use}`),
    ...refused.map((why) => `refused: ${why}`),
    ...toolLines(verdict),
  ];
  return [`${name}: ${judgement(verdict, config)}`, ...further.map((one) => `  ${one}`)].join('\n  ');
}

function judgement({ errors, cost, overBudget }: Verdict, config: PlainConfig): string {
  if (cost === undefined) return `invalid, ${errors.join('\n    ')}`;
  if (!overBudget) return `ok, ${costText(cost)}`;
  const limits = listFormat.format(limitsFor(cost, config).map(({ text }) => text));
  return `over budget, ${costText(cost)} (the limits are ${limits})`;
}

/** Hints for a better tool for agents; empty if there are none, or if hints were not requested. */
function toolLines({ mcp }: Verdict): readonly string[] {
  if (mcp === null) return [`no tool: ${neededOfTools}`];
  return mcp?.hints.map((hint) => `hint for the tool: ${hint}`) ?? [];
}
