import { parseArgs } from 'node:util';
import { type DocumentNode, getOperationAST, getVariableValues, Kind, type OperationDefinitionNode } from 'graphql';
import { ConfigError } from '../config-error.ts';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { describeTool, neededOfTools } from '../mcp/tool.ts';
import { withoutDefer } from '../operation/defer.ts';
import { readFiles } from '../operation/persisted/manifest.ts';
import { type PlanInParts, planInParts } from '../plan/parts.ts';
import { planOperation } from '../plan/plan.ts';
import type { Condition, PlannedCall } from '../plan/planned-calls.ts';
import { createReadableSchema } from '../schema.ts';
import { type PlainConfig, readPlainConfig } from '../settings/config.ts';
import type { SettingsReader } from '../settings/settings-reader.ts';
import { checkDocument, cursorsOf, lineOf, readJsonObject } from './documents.ts';
import { type CommandResult, costText, limitsFor, rangeText, table } from './output.ts';

/**
 * `explain FILE [--variables FILE] [--operation NAME] [--json] [--mcp]`: prints the REST calls of an operation, or its
 * description as a tool.
 */
export function explain(args: string[], settings: SettingsReader): CommandResult {
  const { values, positionals } = parseArgs({
    args,
    options: {
      variables: { type: 'string' },
      operation: { type: 'string' },
      json: { type: 'boolean' },
      mcp: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const [found, ...others] = positionals.flatMap(readFiles);
  if (found === undefined) throw new ConfigError('explain: expected one file, a GraphQL document');
  if (others.length > 0)
    throw new ConfigError(
      `explain: expected one file, a GraphQL document, but got ${others.length + 1}; check-operations takes several`,
    );
  const { file, text } = found;
  const config = readPlainConfig(settings);
  const schema = createReadableSchema(config.incremental);
  const { document, faults } = checkDocument(schema, text);
  if (document === undefined || faults.length > 0)
    return { text: faults.map((fault) => `${file}:${lineOf(fault)}`).join('\n'), exitCode: 1 };
  const operation = operationOf(document, values.operation);
  const scope = { schema, fragments: fragmentsOf(document), operation };
  if (values.mcp === true) {
    const described = describeTool(scope, config);
    if (described === undefined) return { text: `--mcp: ${neededOfTools}`, exitCode: 1 };
    return { text: JSON.stringify(described, null, 2), exitCode: 0 };
  }
  const variables =
    values.variables === undefined ? {} : readJsonObject(values.variables, 'a JSON object, the variables');
  const { variableValues, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (variableValues === undefined) {
    const hint = values.variables === undefined ? ['--variables FILE: expected a JSON object with their values'] : [];
    return { text: [...errors.map(lineOf), ...hint].join('\n'), exitCode: 1 };
  }
  const { maxPageSize } = config;
  const request = { ...scope, variableValues, cursors: cursorsOf(config), maxPageSize };
  const { plan: whole } = planOperation(request);
  const deferring = withoutDefer(text, document) === document ? undefined : { ...scope, document };
  const plan = config.incremental ? planInParts(whole, request, deferring) : whole;
  return { text: values.json === true ? JSON.stringify(plan, null, 2) : describe(plan, config), exitCode: 0 };
}

function describe(plan: PlanInParts, config: PlainConfig): string {
  const { calls, waves, hints, firstPartAfter } = plan;
  const exceeded = limitsFor(plan, config).filter(({ isExceeded }) => isExceeded);
  return [
    ...(calls.length === 0 ? [] : [callTable(calls), '']),
    costText(plan),
    ...(firstPartAfter === undefined ? [] : [`first part after wave ${firstPartAfter} of ${waves}`]),
    ...exceeded.map(({ text }) => `over the limit of ${text}`),
    ...hints.map((hint) => `hint: ${hint}`),
  ].join('\n');
}

function callTable(calls: readonly PlannedCall[]): string {
  return table(calls, [
    { title: 'wave', align: 'right', text: ({ wave }) => `${wave}` },
    { title: 'calls', align: 'right', text: ({ lower, upper }) => rangeText(lower, upper) },
    { title: 'method', text: ({ method }) => method },
    { title: 'path', text: ({ path }) => path },
    {
      title: 'for',
      text: ({ paths, when }) => `${paths.join(', ')}${when === undefined ? '' : ` (${reasons[when]})`}`,
    },
  ]);
}

const reasons: Record<Condition, string> = {
  absent: 'only if nothing is found below it',
  'not in the page': 'only if no page of its list has it',
  'not in the answer': 'only if the write does not answer the object',
  'long list': 'only if the list is longer than a page',
};

function operationOf(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const operation = getOperationAST(document, name);
  if (operation !== null && operation !== undefined) return operation;
  const names = document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION && definition.name !== undefined ? [definition.name.value] : [],
  );
  const found = names.length === 0 ? 'which has no names' : `which has ${names.join(', ')}`;
  const why = name === undefined ? 'because there is not exactly one' : `but got ${name}`;
  throw new ConfigError(`--operation: expected the name of an operation of the document, ${found}, ${why}`);
}
