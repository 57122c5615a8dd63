import { assert, asyncProperty, gen } from 'fast-check';
import {
  type DocumentNode,
  type FragmentSpreadNode,
  GraphQLDeferDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  Kind,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import type { GatewayContext, PartsFormat } from '../../src/context.ts';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { createExecuteInParts, type PartPayload, withoutDefer } from '../../src/operation/defer.ts';
import { createExecute } from '../../src/operation/execute.ts';
import { coercedVariables } from '../../src/operation/params.ts';
import { type PublicError, toPublicError } from '../../src/operation/public-errors.ts';
import { createReadableSchema, createSchema, createSchemas } from '../../src/schema.ts';
import { inForm, seedOf } from '../support/form.ts';
import { mergeParts, type Part, readPart } from '../support/parts.ts';
import { type FailureOf, failuresOf } from './faults.ts';
import { comparable } from './lost.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { contextOf, operationIn, type Pace, Upstream, waitTurns } from './upstream.ts';
import { type World, worldOf } from './world.ts';

const schema = createReadableSchema(true);
const options = { schemas: createSchemas(createSchema(), true), introspection: true };
const cursors = createCursorCodec('secret of the properties');

/** `DEFER_CASES=100000 DEFER_SEED=1 npx vitest run test/property/defer` for a long run. */
const numRuns = Number(process.env['DEFER_CASES'] ?? inForm(150, 2000));
const seed = seedOf('DEFER_SEED');

interface Case {
  readonly world: World;
  readonly pace: Pace;
  readonly failureOf?: FailureOf;
  readonly query: string;
  readonly document: DocumentNode;
  readonly maxPageSize: number;
}

/** The data and errors that a client has at the end, and the traffic of the upstream. */
interface Outcome {
  readonly data: unknown;
  readonly errors: readonly PublicError[];
  readonly calls: readonly string[];
  readonly rounds: number;
}

function caseOf(random: Random, absent: boolean): Case {
  const maxPageSize = random.pick([3, 5, 100]);
  const world = worldOf(random, 6);
  const pace = random.pick(['in step', 'in turn', 'in reverse'] as const);
  const query = operationOf({ random, world, schema, cursors, maxPageSize, depth: 4, width: 4, absent, defers: true });
  const document = parse(query);
  const [invalid] = validate(schema, document);
  if (invalid !== undefined) throw new Error(`${invalid.message}: ${query}`);
  return { world, pace, query, document, maxPageSize };
}

function startUpstream({ world, pace, maxPageSize, failureOf }: Case, parts?: PartsFormat) {
  const upstream = new Upstream(world, pace, () => 0.5, failureOf);
  const context: GatewayContext = { ...contextOf(upstream.client, cursors, maxPageSize), parts };
  return { upstream, context };
}

async function asWhole(one: Case): Promise<Outcome> {
  const { upstream, context } = startUpstream(one);
  const document = withoutDefer(one.query, one.document);
  const operation = operationIn(document);
  const execute = createExecute(options, document, operation);
  const result = await execute(context, coercedVariables(options, operation));
  return outcomeOf({ data: plain(result.data), errors: result.errors ?? [] }, upstream);
}

async function inParts(one: Case, format: PartsFormat): Promise<Outcome & { readonly firstRound: number }> {
  const { upstream, context } = startUpstream(one, format);
  const operation = operationIn(one.document);
  const execute = createExecuteInParts(options, one.document, operation);
  const result = await execute?.(context, coercedVariables(options, operation));
  const firstRound = upstream.rounds;
  if (result === undefined) throw new Error('not a query');
  const parts: Part[] = [];
  const errors: unknown[] = [];
  const note = (part: PartPayload): void => {
    parts.push(readPart(JSON.stringify(part)));
    errors.push(...errorsIn(part));
  };
  if ('initialResult' in result) {
    note(result.initialResult);
    for await (const part of result.subsequentResults) note(part);
  } else note({ ...result, hasNext: false });
  return { ...(await outcomeOf({ data: mergeParts(parts).data, errors }, upstream)), firstRound };
}

/** The errors of a part and of its entries. */
function errorsIn({ errors = [], incremental = [], completed = [] }: PartPayload): readonly unknown[] {
  return [...errors, ...[...incremental, ...completed].flatMap((entry) => entry.errors ?? [])];
}

async function outcomeOf(
  { data, errors }: { readonly data: unknown; readonly errors: readonly unknown[] },
  upstream: Upstream,
): Promise<Outcome> {
  // Calls that proved not to be needed may still be under way.
  for (let calls = -1; calls !== upstream.calls.length; await waitTurns(8)) calls = upstream.calls.length;
  const { calls, rounds } = upstream;
  return { data, errors: errors.map((error) => toPublicError(error, fail)), calls: calls.toSorted(), rounds };
}

function fail(unexpected: unknown): void {
  throw unexpected;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

const kinds = [
  ['v0.2', 'that is there', false],
  ['v0.2', 'that may be absent', true],
  ['20220824', 'that is there', false],
  ['20220824', 'that may be absent', true],
] as const;

test.each(kinds)(
  `the parts of %s of what is read %s are together the answer as a whole, for as many calls (seed ${seed})`,
  { timeout: 3_600_000 },
  async (format, _name, absent) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const one = caseOf(new Random(g), absent);
        const { query } = one;
        const whole = await asWhole(one);
        const parts = await inParts(one, format);
        const [told, expected] = comparable(parts, whole);
        expect({ query, data: parts.data, errors: told.errors }).toEqual({
          query,
          data: whole.data,
          errors: expected.errors,
        });
        expect({ query, calls: parts.calls.length }).toEqual({ query, calls: whole.calls.length });
      }),
      { numRuns, seed, endOnFailure: true },
    );
  },
);

test.each(kinds)(
  `so are the parts of %s of what is read %s if calls fail, but for objects that were told before (seed ${seed})`,
  { timeout: 3_600_000 },
  async (format, _name, absent) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const random = new Random(g);
        const one = { ...caseOf(random, absent), failureOf: failuresOf(random, random.pick([3, 8, 20])) };
        const { query } = one;
        const whole = await asWhole(one);
        const parts = await inParts(one, format);
        const [told, expected] = comparable(parts, whole);
        expect({ query, ...told }).toEqual({ query, ...expected });
      }),
      { numRuns, seed, endOnFailure: true },
    );
  },
);

const organization = '018f1c4e-0000-7000-8000-00000000000a';

/** Operations over one project and one plugin whose parts have once made further calls. */
const examples: readonly (readonly [name: string, pace: Pace, query: string, calls: readonly string[]])[] = [
  [
    'an object that turns out to be absent leads to nothing more',
    'in reverse',
    `{ node(id: "${toGlobalId({ type: 'Event', scope: '1', id: 'e-99' })}") {
      ... on Event { event project { ... @defer { organization { name } } } } } }`,
    ['/api/projects/1/', '/api/projects/1/events/e-99/'],
  ],
  [
    'an object that turns out to be absent when the row of another comes leads to nothing more',
    'in step',
    `{ node(id: "${toGlobalId({ type: 'Event', scope: '1', id: 'e-99' })}") {
      ... on Event { event project { ... @defer { primaryDashboard { name } } } } } }`,
    ['/api/projects/1/', '/api/projects/1/events/e-99/'],
  ],
  [
    'nor does one above the object whose row is awaited',
    'in reverse',
    `{ node(id: "${toGlobalId({ type: 'Event', scope: '1', id: 'e-99' })}") { ... on Event {
      event project { name dashboard(id: "101") { name project { ... @defer { primaryDashboard { name } } } } } } } }`,
    ['/api/projects/1/', '/api/projects/1/dashboards/101/', '/api/projects/1/events/e-99/'],
  ],
  [
    'nor does one whose relation has its row already',
    'in reverse',
    `{ node(id: "${toGlobalId({ type: 'Dashboard', scope: '1', id: '199' })}") { ... on Dashboard {
      name project { event(id: "e-1") { event project { ... @defer { primaryDashboard { name } } } } } } } }`,
    ['/api/projects/1/', '/api/projects/1/dashboards/199/', '/api/projects/1/events/e-1/'],
  ],
  [
    'the row of a plugin tells its organization',
    'in reverse',
    '{ organization(id: "@current") { plugin(id: "1") { source { files { name } } ... @defer { id } } } }',
    ['/api/organizations/@current/plugins/1/', '/api/organizations/@current/plugins/1/source/'],
  ],
];

describe.each(['v0.2', '20220824'] as const)('parts of %s', (format) => {
  test.each(examples)('make no further call: %s', async (_name, pace, query, calls) => {
    const lists = new Map([
      ['/api/projects/', [{ id: 1, name: 'Project 1', organization, primary_dashboard: 7 }]],
      ['/api/projects/1/events/', [{ id: 'e-1', event: 'visit' }]],
      ['/api/projects/1/dashboards/', [{ id: 101, name: 'Dashboard 101' }]],
      ['/api/organizations/@current/plugins/', [{ id: 1, name: 'Plugin 1', organization_id: organization }]],
    ]);
    const one: Case = { world: { lists }, pace, query, document: parse(query), maxPageSize: 100 };
    expect((await asWhole(one)).calls).toEqual(calls);
    expect((await inParts(one, format)).calls).toEqual(calls);
  });
});

test.each(['v0.2', '20220824'] as const)(
  `the first part of %s waits for no call that only later ones need (seed ${seed})`,
  { timeout: 3_600_000 },
  async (format) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const one = caseOf(new Random(g), false);
        const { query } = one;
        const document = withoutDeferred(one.document);
        const { rounds } = await asWhole({ ...one, document, query: print(document) });
        const { firstRound, calls } = await inParts(one, format);
        // Such calls may be what tells that an object exists, and a tail takes several.
        if (mayWait(calls) || one.query.includes('last: ') || hasNull(await asWhole(one))) return;
        expect({ query, isLate: firstRound > rounds }).toEqual({ query, isLate: false });
      }),
      { numRuns, seed, endOnFailure: true },
    );
  },
);

/** True if a field or an item of a list is null. */
function hasNull({ data }: Outcome): boolean {
  return /[:[,]null/u.test(JSON.stringify(data));
}

/**
 * True if a row is read whose list is read too, or if any row of a list is read that is read otherwise too: such a read
 * first waits for the other ones, each of which may save its call. To ask at once would make more calls than the answer
 * as a whole, and only the answer tells if a page has rows.
 */
function mayWait(calls: readonly string[]): boolean {
  const lists = new Set(calls.filter((call) => call.includes('?')).map((call) => call.slice(0, call.indexOf('?'))));
  const ofRows = calls.some((call) => !call.includes('?') && lists.has(call.replace(/[^/]+\/$/, '')));
  // Any plugin tells the name of its organization.
  const names = calls.filter((call) => call.endsWith('/plugins/?limit=1'));
  return (
    ofRows || names.some((one) => calls.some((call) => call !== one && call.startsWith(one.replace('?limit=1', ''))))
  );
}

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
