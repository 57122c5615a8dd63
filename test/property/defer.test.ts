import { assert, asyncProperty, gen } from 'fast-check';
import { type DocumentNode, getOperationAST, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import type { GatewayContext, PartsFormat } from '../../src/context.ts';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { Loaders } from '../../src/loaders/loaders.ts';
import { createExecutionInParts, type ExecutedPart, withoutDefer } from '../../src/operation/defer.ts';
import { toPublicError } from '../../src/operation/errors.ts';
import { createExecution } from '../../src/operation/execute.ts';
import { ClientApi } from '../../src/rest/api.ts';
import { createReadableSchema, createSchema, createSchemas } from '../../src/schema.ts';
import { unlimitedAnswer } from '../support/answers.ts';
import { inForm } from '../support/form.ts';
import { mergeParts, type Part } from '../support/parts.ts';
import { operationOf } from './operations.ts';
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

async function inParts(one: Case, format: PartsFormat): Promise<Outcome> {
  const { upstream, context } = startUpstream(one, format);
  const execute = createExecutionInParts(options, one.document, operationIn(one.document));
  const result = await execute?.(context, {});
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
  return outcomeOf({ data: mergeParts(parts).data, errors }, upstream);
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
        expect({ query, ...(await inParts(one, format)) }).toEqual({ query, ...(await asWhole(one)) });
      }),
      { numRuns, seed, endOnFailure: true },
    );
  },
);
