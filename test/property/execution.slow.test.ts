import { assert, asyncProperty, type GeneratorValue, gen } from 'fast-check';
import { type ExecutionResult, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { createExecute, type ExecuteOptions, type Schemas } from '../../src/operation/execute.ts';
import { coercedVariables } from '../../src/operation/params.ts';
import { toPublicError } from '../../src/operation/public-errors.ts';
import { RefusedDocument } from '../../src/operation/request-error.ts';
import { createCompilerSchema, createSchema, toCompilerSchema } from '../../src/schema.ts';
import { inForm, seedOf } from '../support/form.ts';
import { schemaOfDefaults } from './defaults.ts';
import { failuresOf, spoiled } from './faults.ts';
import { type InputCase, inputCaseOf, places } from './inputs.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { contextOf, operationIn, Upstream, waitTurns } from './upstream.ts';
import { worldOf } from './world.ts';

const schemas = { schema: createSchema(), compilerSchema: createCompilerSchema() };
const cursors = createCursorCodec('secret of the properties');
const maxPageSize = 10;

/** `EXECUTION_CASES=100000 EXECUTION_SEED=1 npx vitest run test/property/execution` for a long run. */
const numRuns = Number(process.env['EXECUTION_CASES'] ?? inForm(500, 2000));
const seed = seedOf('EXECUTION_SEED');

/** More turns of the event loop than any operation of these sizes needs. */
const manyTurns = 2000;

interface Case extends InputCase, ExecuteOptions {
  /** Starts the upstream of one execution; each fails in the same places. */
  readonly startUpstream: () => Upstream;
}

/** When an operation is compiled; before its second run it is not. */
type Way = 'at once' | 'when repeated';

/** The result that a client sees of an execution, and the calls of the upstream. */
interface Outcome extends InputCase {
  readonly data: string;
  readonly errors: readonly string[];
  readonly calls: readonly string[];
}

async function outcomeOf(one: Case, way: Way): Promise<Outcome> {
  const { query, variables } = one;
  const document = parse(query);
  const [invalid] = validate(one.schemas.schema, document);
  if (invalid !== undefined) throw new Error(`${invalid.message}: ${query}`);
  const upstream = one.startUpstream();
  const operation = operationIn(document);
  const execute = createExecute(one, document, operation, way);
  const result = await inTime(
    executed(() =>
      execute(contextOf(upstream.client, cursors, maxPageSize), coercedVariables(one, operation, variables)),
    ),
  );
  // Calls that proved not to be needed may still be under way.
  for (let calls = -1; calls !== upstream.calls.length; await waitTurns(8)) calls = upstream.calls.length;
  const calls = operation.operation === 'query' ? upstream.calls.toSorted() : upstream.calls;
  return { query, variables, data: JSON.stringify(result.data), errors: errorsOf(result), calls };
}

/** The result of an execution; errors alone if its variables do not fit. */
function executed(execute: () => MaybePromise<ExecutionResult>): MaybePromise<ExecutionResult> {
  try {
    return execute();
  } catch (error) {
    if (error instanceof RefusedDocument) return { errors: error.errors };
    throw error;
  }
}

/**
 * The errors as a set. Of those below a field that became null only the place counts: executors stop at different ones
 * (specification §6.4.4).
 */
function errorsOf({ data, errors = [] }: ExecutionResult): readonly string[] {
  const texts = errors.map((error) => {
    const { refusal: _refusal, ...shown } = toPublicError(error, (unexpected) => {
      throw unexpected;
    });
    const nulled = nulledAbove(data, shown.path ?? []);
    return JSON.stringify(nulled === undefined ? shown : { below: nulled });
  });
  return [...new Set(texts)].toSorted((a, b) => (a < b ? -1 : 1));
}

/** The path at which data is null already; undefined if the error's own field is the first that is null. */
function nulledAbove(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] | undefined {
  let value = data;
  for (const [depth, name] of path.entries()) {
    if (value === null || value === undefined) return path.slice(0, depth);
    value = Reflect.get(Object(value), name);
  }
  return undefined;
}

/** Fails for an operation that never ends. */
async function inTime<T>(result: Promise<T> | T): Promise<T> {
  const state = { isDone: false };
  void Promise.allSettled([result]).then(() => {
    state.isDone = true;
  });
  for (let left = manyTurns; !state.isDone && left > 0; left -= 1) await waitTurns(1);
  if (!state.isDone) throw new Error('the operation never ended');
  return result;
}

/** Outcomes of a random case: by graphql's own executor, and compiled. */
async function bothWays(caseOf: (random: Random) => Case, g: GeneratorValue): Promise<Record<Way, Outcome>> {
  const one = caseOf(new Random(g));
  return { 'when repeated': await outcomeOf(one, 'when repeated'), 'at once': await outcomeOf(one, 'at once') };
}

describe(`a compiled operation (seed ${seed})`, { timeout: 3_600_000 }, () => {
  const withDefaults: Schemas = { schema: schemaOfDefaults(), compilerSchema: toCompilerSchema(schemaOfDefaults()) };

  const common = { schemas, introspection: true };

  const broken = (random: Random): Case => {
    const world = worldOf(random, 6);
    const options = { random, world, ...schemas, cursors, maxPageSize, depth: 4, width: 4, absent: true };
    const query = operationOf({ ...options, everyField: random.once(2) });
    const rows = spoiled(world, random);
    const failureOf = failuresOf(random, random.pick([5, 20, 1000]));
    const pace = random.pick(['in step', 'at random'] as const);
    return { ...common, query, variables: {}, startUpstream: () => new Upstream(rows, pace, () => 0.5, failureOf) };
  };
  const given = (random: Random): Case => {
    const world = worldOf(random, 4);
    const failureOf = failuresOf(random, random.pick([5, 1000]));
    return {
      schemas,
      introspection: random.once(2),
      ...inputCaseOf(random, schemas.schema, random.pick(places)),
      startUpstream: () => new Upstream(world, 'in step', () => 0.5, failureOf),
    };
  };
  const defaulted = (random: Random): Case => ({
    ...common,
    schemas: withDefaults,
    ...inputCaseOf(
      random,
      withDefaults.schema,
      random.pick([
        ['Query', 'query', ''],
        ['Mutation', 'mutation', ''],
      ]),
    ),
    startUpstream: () => new Upstream({ lists: new Map() }, 'in step', () => 0.5),
  });

  test.each([
    ['reads what graphql reads, whatever the upstream sends or refuses', broken],
    ['takes arguments and changes what graphql does, whatever the client gives', given],
    ['honours the defaults of arguments and input fields', defaulted],
  ])('%s', async (_name, caseOf) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const ways = await bothWays(caseOf, g);
        expect(ways['at once']).toEqual(ways['when repeated']);
      }),
      { numRuns, seed },
    );
  });
});
