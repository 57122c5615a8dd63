import { assert, asyncProperty, gen } from 'fast-check';
import { type DocumentNode, type OperationDefinitionNode, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import type { CursorCodec } from '../../src/context.ts';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { rootWeight } from '../../src/look-ahead/object-weight.ts';
import { fragmentsOf } from '../../src/look-ahead/selection-tree.ts';
import { measureJson } from '../../src/operation/answer-bytes.ts';
import { createExecute, type Execute } from '../../src/operation/execute.ts';
import { coercedVariables } from '../../src/operation/params.ts';
import { estimateOf } from '../../src/plan/estimate.ts';
import { type Plan, planOperation } from '../../src/plan/plan.ts';
import { createCompilerSchema, createSchema } from '../../src/schema.ts';
import { unlimitedAnswer } from '../support/answers.ts';
import { inForm, seedOf } from '../support/form.ts';
import { pageTarget } from './contract.ts';
import { endlessWorld } from './endless.ts';
import { fewestCalls } from './minimum.ts';
import { NaiveSource } from './naive.ts';
import { objectsIn } from './objects.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { answerFrom } from './reference.ts';
import { answerOf, contextOf, operationIn, type Pace, resultsOf, Upstream } from './upstream.ts';
import { type World, worldOf } from './world.ts';

const schemas = { schema: createSchema(), compilerSchema: createCompilerSchema() };
const { schema } = schemas;
const cursors = createCursorCodec('secret of the properties');

/** `PLAN_CASES=200000 PLAN_SEED=1 npx vitest run test/property` for a long run. */
const numRuns = Number(process.env['PLAN_CASES'] ?? inForm(500, 2000));
const seed = seedOf('PLAN_SEED');

interface Case {
  readonly world: World;
  readonly query: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly maxPageSize: number;
}

interface Size {
  readonly depth: number;
  readonly width: number;
  readonly rows: number;
  readonly absent: boolean;
}

function caseOf(random: Random, size: Size): Case {
  const maxPageSize = random.pick([3, 5, 10, 100]);
  return caseIn(worldOf(random, size.rows), random, { ...size, maxPageSize });
}

function caseIn(world: World, random: Random, size: Omit<Size, 'rows'> & { readonly maxPageSize: number }): Case {
  const { maxPageSize } = size;
  const query = operationOf({ random, world, schema, cursors, ...size });
  const document = parse(query);
  const invalid = validate(schema, document);
  if (invalid.length > 0) throw new Error(`${invalid.join('\n')}\n${query}`);
  return { world, query, document, operation: operationIn(document), maxPageSize };
}

/**
 * Cursors of a world that count rows: the last page of a list does not say whether the list goes on by time, so that
 * its cursors name the moment of an event too.
 */
function countedIn(world: World): CursorCodec {
  return {
    ...cursors,
    encode: (list, position) => {
      const last = position.boundary?.ids.at(-1);
      if (last === undefined) return cursors.encode(list, position);
      const rows = resultsOf(answerOf(world, pageTarget(list, 0, Number.MAX_SAFE_INTEGER)));
      return cursors.encode(list, { offset: rows.findIndex(({ id }) => id === last) + 1 });
    },
  };
}

async function run({ world, document, operation, maxPageSize }: Case, pace: Pace, random: () => number) {
  const upstream = new Upstream(world, pace, random);
  const answerCounter = unlimitedAnswer();
  const read = <T>(answer: Promise<T>): Promise<T> =>
    answer.then((value) => {
      answerCounter.deadline.received += JSON.stringify(value).length;
      return value;
    });
  const { client } = upstream;
  const counting = { ...client, read: (...call: Parameters<typeof client.read>) => read(client.read(...call)) };
  const context = { ...contextOf(counting, countedIn(world), maxPageSize), answerCounter };
  const options = { schemas, introspection: true };
  const execute: Execute = createExecute(options, document, operation, random() < 0.5 ? 'at once' : 'when repeated');
  const result = await execute(context, coercedVariables(options, operation, {}));
  const root = rootWeight({ schema, operation, fragments: fragmentsOf(document) });
  const mostBytes = answerCounter.mostBytes(root);
  return { result, calls: upstream.calls, rounds: upstream.rounds, mostBytes };
}

function planOf({ document, operation, maxPageSize }: Case): Plan {
  const variableValues = { sources: {}, coerced: { yes: true, no: false } };
  const fragments = fragmentsOf(document);
  return planOperation({ schema, fragments, variableValues, operation, cursors, maxPageSize }).plan;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

/** The fault of a case; undefined if there is none. */
async function faultOf(one: Case, pace: Pace, random: () => number): Promise<string | undefined> {
  const plan = planOf(one);
  const bound = estimateOf({ ...one, schema, fragments: fragmentsOf(one.document), variableValues: undefined });
  if (plan.upper > bound.calls || plan.rows > bound.rows)
    return `planned ${plan.upper} calls and ${plan.rows} rows, but bounded ${bound.calls} and ${bound.rows}`;
  const { result, calls, rounds, mostBytes } = await run(one, pace, random);
  const objects = objectsIn(result.data);
  if (objects > plan.objects) return `planned ${plan.objects} objects, but answered ${objects}`;
  const bytes = Buffer.byteLength(JSON.stringify(result.data));
  const measured = measureJson(result.data, Infinity).bytes;
  if (bytes > mostBytes || bytes > measured) return `counted ${mostBytes} and ${measured} bytes, but answered ${bytes}`;
  const made = `made ${calls.length} calls:\n${calls.join('\n')}`;
  if (calls.length < plan.lower || calls.length > plan.upper)
    return `planned ${plan.lower} to ${plan.upper}, but ${made}`;
  const naive = new NaiveSource(one.world);
  const expected = answerFrom(naive, one.document, cursors, one.maxPageSize);
  if (expected.errors !== undefined) return `the reference failed: ${expected.errors.join('\n')}`;
  if (naive.metAbsence) return undefined;
  if (result.errors !== undefined) return `failed: ${result.errors.join('\n')}`;
  const [got, wanted] = [JSON.stringify(plain(result.data)), JSON.stringify(plain(expected.data))];
  if (got !== wanted) return `expected\n${wanted}\nbut got\n${got}\n${made}`;
  if (pace === 'at random') return undefined;
  if (rounds > plan.waves) return `planned ${plan.waves} waves, but went ${rounds} rounds: ${made}`;
  const fewest = fewestCalls({ ...one, cursors, mostFacts: 6 });
  return fewest === undefined || fewest === calls.length ? undefined : `expected ${fewest} calls, but ${made}`;
}

function report({ query, world, maxPageSize }: Case, fault: string): string {
  const sizes = [...world.lists].map(([path, rows]) => `${path} ${rows.length}`).join(', ');
  return `${fault}\n${query}\npages of ${maxPageSize} rows; ${sizes}\nseed ${seed}`;
}

test.each([
  ['small operations in step', { depth: 4, width: 3, rows: 8, absent: false }, 'in step', 0.5],
  ['large operations at random', { depth: 4, width: 4, rows: 30, absent: false }, 'at random', 0.3],
  ['objects that may be absent', { depth: 3, width: 3, rows: 6, absent: true }, 'at random', 0.2],
] as const)(
  `the calls and the answers of %s are as planned (seed ${seed})`,
  { timeout: 3_600_000 },
  async (_name, size, pace, share) => {
    await assert(
      asyncProperty(gen(), async (g) => {
        const random = new Random(g);
        const one = caseOf(random, size);
        const fault = await faultOf(one, pace, numbersFrom(random.number(0, 2 ** 31)));
        expect(fault === undefined ? '' : report(one, fault)).toBe('');
      }),
      { numRuns: Math.ceil(numRuns * share), seed },
    );
  },
);

test(`operations that meet nothing twice make as many calls as were planned, and no more (seed ${seed})`, {
  timeout: 3_600_000,
}, async () => {
  const reached = { cases: 0, all: 0 };
  await assert(
    asyncProperty(gen(), async (g) => {
      const random = new Random(g);
      const size = { depth: 4, width: 3, absent: false };
      const one = caseIn(endlessWorld(), random, { ...size, maxPageSize: random.pick([1, 2, 3]) });
      const { lower, upper, calls: planned } = planOf(one);
      const { calls } = await run(one, 'at random', numbersFrom(random.number(0, 2 ** 31)));
      expect(
        calls.length < lower || calls.length > upper
          ? report(one, `planned ${lower} to ${upper}, but made ${calls.length}:\n${calls.join('\n')}`)
          : '',
      ).toBe('');
      // Every id leads to a row, so nothing proves to be absent.
      const present = planned.filter(({ when }) => when !== 'absent').reduce((sum, call) => sum + call.upper, 0);
      reached.cases += 1;
      if (calls.length >= present) reached.all += 1;
    }),
    { numRuns: Math.ceil(numRuns * 0.2), seed },
  );
  // The others come upon rows that stand in a page which was read for something else.
  expect(reached.all / reached.cases).toBeGreaterThan(0.7);
});

/** Numbers from 0 to 1 that a seed decides. */
function numbersFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
