import { assert, asyncProperty, gen } from 'fast-check';
import {
  type DocumentNode,
  type FragmentSpreadNode,
  GraphQLDeferDirective,
  getDirectiveValues,
  getOperationAST,
  type InlineFragmentNode,
  Kind,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { expect, test } from 'vitest';
import type { GatewayContext, PartsFormat } from '../../src/context.ts';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { Loaders } from '../../src/loaders/loaders.ts';
import { fragmentsOf } from '../../src/look-ahead/selection.ts';
import { createExecutionInParts, type ExecutedPart, withoutDefer } from '../../src/operation/defer.ts';
import { toPublicError } from '../../src/operation/errors.ts';
import { createExecution } from '../../src/operation/execute.ts';
import { type Plan, planOperation } from '../../src/plan/plan.ts';
import { ClientApi } from '../../src/rest/api.ts';
import { createReadableSchema, createSchema, createSchemas } from '../../src/schema.ts';
import { unlimitedAnswer } from '../support/answers.ts';
import { inForm } from '../support/form.ts';
import { mergeParts, type Part } from '../support/parts.ts';
import { absentEventId, absentId, operationOf } from './operations.ts';
import { Random } from './random.ts';
import { Upstream } from './upstream.ts';
import { type World, worldOf } from './world.ts';

const schema = createReadableSchema(true);
const options = { schemas: createSchemas(createSchema(), true), introspection: true };
const cursors = createCursorCodec('secret of the properties');

/** `DEFER_CASES=100000 DEFER_SEED=1 npx vitest run test/property/defer` for a long run. */
const numRuns = Number(process.env['DEFER_CASES'] ?? inForm(150, 2000));
const seed = Number(process.env['DEFER_SEED'] ?? Date.now() % 2 ** 31);

interface Case {
  readonly world: World;
  readonly query: string;
  readonly document: DocumentNode;
  readonly maxPageSize: number;
}

/** What a client has at the end, and what the upstream was asked. */
interface Outcome {
  readonly data: unknown;
  readonly errors: readonly string[];
  readonly calls: readonly string[];
  /** How often answers of the upstream were awaited. */
  readonly rounds: number;
}

function caseOf(random: Random, absent: boolean): Case {
  const maxPageSize = random.pick([3, 5, 100]);
  const world = worldOf(random, 6);
  const query = operationOf({ random, world, schema, cursors, maxPageSize, depth: 4, width: 4, absent, defers: true });
  const document = parse(query);
  const [invalid] = validate(schema, document);
  if (invalid !== undefined) throw new Error(`${invalid.message}: ${query}`);
  return { world, query, document, maxPageSize };
}

function startUpstream({ world, maxPageSize }: Case, parts?: PartsFormat) {
  const upstream = new Upstream(world, 'in step', () => 0.5);
  const rest = new ClientApi(upstream.client);
  const loaders = new Loaders(rest, maxPageSize);
  const context: GatewayContext = { rest, loaders, cursors, maxPageSize, answer: unlimitedAnswer(), parts };
  return { upstream, context };
}

async function asWhole(one: Case): Promise<Outcome> {
  const { upstream, context } = startUpstream(one);
  const document = withoutDefer(one.query, one.document);
  const result = await createExecution(options, document, operationIn(document))(context, {});
  return outcomeOf({ data: plain(result.data), errors: result.errors ?? [] }, upstream);
}

async function inParts(one: Case, format: PartsFormat): Promise<Outcome & { readonly firstRound: number }> {
  const { upstream, context } = startUpstream(one, format);
  const execute = createExecutionInParts(options, one.document, operationIn(one.document));
  const result = await execute?.(context, {});
  const firstRound = upstream.rounds;
  if (result === undefined) throw new Error('not a query');
  const parts: Part[] = [];
  const errors: unknown[] = [];
  const note = (part: ExecutedPart): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as it is answered
    parts.push(plain(part) as Part);
    errors.push(...errorsIn(part));
  };
  if ('initialResult' in result) {
    note(result.initialResult);
    for await (const part of result.subsequentResults) note(part);
  } else note({ ...result, hasNext: false });
  return { ...(await outcomeOf({ data: mergeParts(parts).data, errors }, upstream)), firstRound };
}

/** The errors of a part and of its entries. */
function errorsIn({ errors = [], incremental = [], completed = [] }: ExecutedPart): readonly unknown[] {
  return [...errors, ...[...incremental, ...completed].flatMap((entry) => entry.errors ?? [])];
}

async function outcomeOf(
  { data, errors }: { readonly data: unknown; readonly errors: readonly unknown[] },
  upstream: Upstream,
): Promise<Outcome> {
  // What was begun and proved not to be needed is under way still.
  for (let calls = -1; calls !== upstream.calls.length; await turns(8)) calls = upstream.calls.length;
  const shown = errors.map((error) => JSON.stringify(toPublicError(error, fail)));
  return { data, errors: [...new Set(shown)].toSorted(), calls: upstream.calls.toSorted(), rounds: upstream.rounds };
}

function fail(unexpected: unknown): void {
  throw unexpected;
}

function operationIn(document: DocumentNode) {
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('no operation');
  return operation;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

test.each([
  ['v0.2', 'that is there', false],
  ['v0.2', 'that may be absent', true],
  ['20220824', 'that is there', false],
  ['20220824', 'that may be absent', true],
] as const)(
  `the parts of %s of what is read %s are together the answer as a whole, for the same calls (seed ${seed})`,
  { timeout: 3_600_000 },
  async (format, _name, absent) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const one = caseOf(new Random(g), absent);
        const { query } = one;
        const whole = await asWhole(one);
        const parts = await inParts(one, format);
        const { data, errors } = parts;
        expect({ query, data, errors }).toEqual({ query, data: whole.data, errors: whole.errors });
        // What starts sooner may find a page to share. Below an object that is absent it is chance what has started.
        const mayBeAbsent = absent || whole.calls.some(asksForAbsent);
        const most = mayBeAbsent ? Math.max(planOf(one).upper, whole.calls.length) : whole.calls.length;
        expect([query, parts.calls.length]).toEqual([query, Math.min(parts.calls.length, most)]);
      }),
      { numRuns, seed, endOnFailure: true },
    );
  },
);

test.each(['v0.2', '20220824'] as const)(
  `the first part of %s waits for no call that only later ones need (seed ${seed})`,
  { timeout: 3_600_000 },
  async (format) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const one = caseOf(new Random(g), false);
        const { query, maxPageSize, world } = one;
        const document = withoutDeferred(one.document);
        const { rounds } = await asWhole({ world, maxPageSize, document, query: print(document) });
        const { firstRound, calls } = await inParts(one, format);
        // Such calls may be what tells that an object exists, and a tail takes several.
        if (mayWait(calls) || one.query.includes('last: ') || hasNull(await asWhole(one))) return;
        expect({ query, isLate: firstRound > rounds }).toEqual({ query, isLate: false });
      }),
      { numRuns, seed, endOnFailure: true },
    );
  },
);

/** Whether a call asks for a row that the world does not have: operations name one if it has none of that noun. */
function asksForAbsent(call: string): boolean {
  return call.includes(`/${absentId}/`) || call.includes(`/${absentEventId}/`);
}

function hasNull({ data }: Outcome): boolean {
  return JSON.stringify(data).includes(':null');
}

function planOf({ document, maxPageSize }: Case): Plan {
  const variableValues = { sources: {}, coerced: { yes: true, no: false } };
  const scope = { schema, fragments: fragmentsOf(document), variableValues };
  return planOperation({ ...scope, operation: operationIn(document), cursors, maxPageSize });
}

/** Whether a row is read whose list is read too: it waits for the pages of that, any of which may save its call. */
function mayWait(calls: readonly string[]): boolean {
  const lists = new Set(calls.filter((call) => call.includes('?')).map((call) => call.slice(0, call.indexOf('?'))));
  return calls.some((call) => !call.includes('?') && lists.has(call.replace(/[^/]+\/$/, '')));
}

/** The document without what it defers. */
function withoutDeferred(document: DocumentNode): DocumentNode {
  const leave = (node: InlineFragmentNode | FragmentSpreadNode): null | undefined => {
    const values = getDirectiveValues(GraphQLDeferDirective, node, { sources: {}, coerced: { yes: true, no: false } });
    return values === undefined || values['if'] === false ? undefined : null;
  };
  const rest = visit(document, { InlineFragment: leave, FragmentSpread: leave });
  const [typename] = parse('{ __typename }').definitions.flatMap((one) =>
    one.kind === Kind.OPERATION_DEFINITION ? one.selectionSet.selections : [],
  );
  if (typename === undefined) throw new Error('no field');
  return visit(rest, {
    SelectionSet: (set) => (set.selections.length === 0 ? { ...set, selections: [typename] } : undefined),
  });
}
