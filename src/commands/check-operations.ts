import { parseArgs } from 'node:util';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  NoDeprecatedCustomRule,
  type OperationDefinitionNode,
  validate,
  visit,
} from 'graphql';
import { ConfigError } from '../config-error.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { fragmentsOf, type OperationScope } from '../look-ahead/selection-tree.ts';
import { type DescribedTool, describeTool, neededOfTools } from '../mcp/tool.ts';
import { extremesOf } from '../plan/worst-case.ts';
import { current } from '../rest/paths.ts';
import { type Tenant, tenantAllowing, withRoles } from '../rest/tenants.ts';
import { createReadableSchema } from '../schema.ts';
import { type PlainConfig, readPlainConfig, readTenantsSetting } from '../settings/config.ts';
import { authSettings } from '../settings/declaration.ts';
import type { SettingsReader } from '../settings/settings-reader.ts';
import { checkDocument, documentFilesAt, lineOf } from './documents.ts';
import { type CommandResult, type Cost, costText, counted, limitsFor } from './output.ts';

/**
 * `check-operations FILE… [--tenant NAME [--role ROLE…]] [--json] [--mcp]`: checks that operations are valid and within
 * the limits. A variable with a default counts with that value, every other variable with its most expensive value.
 * Also prints what the tenant may not run, but does not fail because of that.
 */
export function checkOperations(args: string[], settings: SettingsReader): CommandResult {
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
    throw new ConfigError('--role: expected --tenant as well, because roles belong to a tenant');
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

/**
 * The number of checked operations, the numbers of failed ones by reason, and the number of operations that the tenant
 * may run, if a tenant was named.
 */
function sumsOf(verdicts: readonly Verdict[]) {
  const invalid = verdicts.filter(({ errors }) => errors.length > 0).length;
  const overBudget = verdicts.filter((verdict) => verdict.overBudget).length;
  const asked = verdicts.filter(({ refused }) => refused !== undefined);
  const runnable = asked.filter(({ refused, errors }) => refused?.length === 0 && errors.length === 0).length;
  return { operations: verdicts.length, invalid, overBudget, ...(asked.length > 0 && { runnable }) };
}

function describe(
  files: readonly { readonly file: string; readonly operations: readonly Verdict[] }[],
  sums: ReturnType<typeof sumsOf>,
  config: PlainConfig,
): string {
  const blocks = files.map(({ file, operations }) =>
    [file, ...operations.map((verdict) => `  ${verdictText(verdict, config)}`)].join('\n'),
  );
  const { operations, invalid, overBudget, runnable } = sums;
  const ofTenant = runnable === undefined ? '' : `, ${runnable} for this tenant`;
  const summary = `${counted(operations, 'operation')}: ${invalid} invalid, ${overBudget} over budget${ofTenant}`;
  return [...blocks, '', summary].join('\n');
}

const listFormat = new Intl.ListFormat('en-GB');

function verdictText(verdict: Verdict, config: PlainConfig): string {
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

/** Hints for a better tool for agents, or the reason why the operation is no tool; empty without the option `--mcp`. */
function toolLines({ mcp }: Verdict): readonly string[] {
  if (mcp === null) return [`no tool: ${neededOfTools}`];
  return mcp?.hints.map((hint) => `hint for the tool: ${hint}`) ?? [];
}

interface Verdict {
  readonly name: string;
  /** Its errors, one line each; empty if it is valid. */
  readonly errors: readonly string[];
  /** Uses of deprecated fields and arguments, one line each. */
  readonly deprecated: readonly string[];
  /** Undefined if the operation is not valid. */
  readonly cost?: Cost;
  readonly overBudget: boolean;
  /**
   * The reasons why the tenant may not run it, one line each; undefined if no tenant was named, or if the operation is
   * not valid.
   */
  readonly refused?: readonly string[];
  /** Its description as a tool for agents; null if it is no tool, undefined if tools were not requested. */
  readonly mcp?: DescribedTool | null;
}

/**
 * Judges each operation of a document separately. `name` is used for operations without a name. If there is a `tenant`,
 * also checks that it may run the operations.
 */
export function judge(
  schema: GraphQLSchema,
  name: string,
  text: string,
  config: PlainConfig,
  { tenant, asTools }: { readonly tenant: Tenant | undefined; readonly asTools: boolean },
): readonly Verdict[] {
  const { document, faults } = checkDocument(schema, text);
  if (document === undefined) return [invalidVerdict(name, faults.map(lineOf))];
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operations.length === 0) return faults.length === 0 ? [] : [invalidVerdict(name, faults.map(lineOf))];
  const warnings = faults.length === 0 ? validate(schema, document, [NoDeprecatedCustomRule]) : [];
  return operations.map((operation) => {
    const called = operation.name?.value ?? name;
    const errors = concerning(faults, operation, operations);
    if (errors.length > 0) return invalidVerdict(called, errors);
    const scope = { schema, fragments: fragmentsOf(document), operation };
    const worst = extremesOf({ ...scope, maxPageSize: config.maxPageSize, variesDefaults: false })?.worst;
    return {
      name: called,
      errors: worst === undefined ? ['no values of its variables are valid'] : [],
      deprecated: concerning(warnings, operation, operations),
      ...(worst !== undefined && { cost: costOf(worst) }),
      overBudget: worst !== undefined && limitsFor(worst, config).some(({ isExceeded }) => isExceeded),
      ...(tenant !== undefined && { refused: refusalsFor(tenant, document, scope) }),
      ...(asTools && { mcp: describeTool(scope, config) ?? null }),
    };
  });
}

function costOf({ lower, upper, rows, waves, objects }: Cost): Cost {
  return { lower, upper, rows, waves, objects };
}

function invalidVerdict(name: string, errors: readonly string[]): Verdict {
  return { name, errors, deprecated: [], overBudget: false };
}

/**
 * The errors within an operation, and the errors outside all operations. An error in a fragment concerns every
 * operation.
 */
function concerning(
  errors: readonly GraphQLError[],
  operation: OperationDefinitionNode,
  all: readonly OperationDefinitionNode[],
): readonly string[] {
  const found = errors.filter((error) => isWithin(error, operation) || !all.some((one) => isWithin(error, one)));
  return found.map(lineOf);
}

function isWithin({ positions }: GraphQLError, { loc }: OperationDefinitionNode): boolean {
  if (loc === undefined) return false;
  return positions?.some((position) => loc.start <= position && position < loc.end) ?? false;
}

/**
 * The tenant called `name`, limited to `roles`. Throws a ConfigError if there is no such tenant, if `roles` do not fit
 * its entry, or if UPSTREAM_KEYS cannot be read.
 */
function tenantCalled(name: string, roles: readonly string[], settings: SettingsReader): Tenant {
  settings.need(authSettings.tenants, 'the option --tenant is given');
  const tenants = readTenantsSetting(settings, true);
  settings.throwFaults();
  const tenant = tenants?.get(name);
  if (tenant !== undefined) return tenantWith(tenant, roles);
  const names = [...(tenants?.keys() ?? [])].join(', ');
  throw new ConfigError(`--tenant: expected one of the tenants in UPSTREAM_KEYS (${names}), but got ${name}`);
}

function tenantWith(tenant: Tenant, roles: readonly string[]): Tenant {
  const { name, roles: known } = tenant;
  const [first] = roles;
  if (known === undefined && first !== undefined)
    throw new ConfigError(`--role: expected none, because the entry of ${name} has no roles, but got ${first}`);
  const expected = `one of the roles of ${name} (${[...(known?.keys() ?? [])].join(', ')})`;
  const unknown = roles.find((role) => known?.has(role) === false);
  if (unknown !== undefined) throw new ConfigError(`--role: expected ${expected}, but got ${unknown}`);
  const found = withRoles(tenant, roles);
  if (found === undefined)
    throw new ConfigError(`--role: expected ${expected}, because its entry has roles, but got none`);
  return found;
}

/**
 * The reasons why a tenant may not run an operation, one line each; empty if the tenant may run it. Assumes that a
 * manifest lists the operation's document.
 */
function refusalsFor(tenant: Tenant, document: DocumentNode, scope: OperationScope): readonly string[] {
  const { name } = tenant;
  const { operation } = scope;
  const running = tenantAllowing(tenant, operation.name?.value);
  if (running === undefined) return [`none of the roles that --role names may run it`];
  const { mutations, reach } = running;
  const isMutation = operation.operation === 'mutation';
  const fields = new Set(isMutation ? rootOf(scope, undefined)?.fields.map(({ field }) => field.name) : []);
  const refusals = [...fields].flatMap((field) => (mutations.has(field) ? [] : [`${name} may not run \`${field}\``]));
  const reaches = isMutation ? [...fields].map((field) => mutations.get(field)) : [reach];
  const hasLimitedReach = reaches.some((one) => one !== undefined);
  if (hasLimitedReach && namesCurrent(document)) refusals.push(`${name} may not name ${current}`);
  return refusals;
}

function namesCurrent(document: DocumentNode): boolean {
  let isNamed = false;
  visit(document, { StringValue: ({ value }) => void (isNamed ||= value === current) });
  return isNamed;
}
