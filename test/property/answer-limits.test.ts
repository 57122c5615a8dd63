import { assert, asyncProperty, gen } from 'fast-check';
import { expect, test } from 'vitest';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { createSchema } from '../../src/schema.ts';
import { inForm, seedOf } from '../support/form.ts';
import { type Answer, startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';
import { objectsIn } from './objects.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { answerOf, handlerOf } from './upstream.ts';
import { type World, worldOf } from './world.ts';

/** `LIMIT_CASES=20000 LIMIT_SEED=1 npx vitest run test/property/answer-limits` for a long run. */
const numRuns = Number(process.env['LIMIT_CASES'] ?? inForm(100, 300));
const seed = seedOf('LIMIT_SEED');

const schema = createSchema();
const cursorSecret = 'secret of the properties';
const cursors = createCursorCodec(cursorSecret);
const maxPageSize = 10;

const limits = [
  { maxAnswerObjects: 5, maxAnswerBytes: 2 ** 24 },
  { maxAnswerObjects: 40, maxAnswerBytes: 4000 },
  { maxAnswerObjects: 50_000, maxAnswerBytes: 500 },
  { maxAnswerObjects: 50_000, maxAnswerBytes: 50_000 },
];

/** A world whose texts are long and full of what JSON escapes, and whose reports have as many items as they like. */
function adversarial(random: Random): World {
  const { lists } = worldOf(random, 12);
  const text = random.pick(['"', '\u0001', 'é', 'x', '\ud800']).repeat(random.pick([1, 40, 2000]));
  const long = new Map(
    [...lists].map(([path, rows]) => [path, rows.map((row) => ({ ...row, name: text, event: text, tag: text }))]),
  );
  const items = Array.from({ length: random.pick([0, 3, 60]) }, (_, id) => ({ id, name: text, activity: text }));
  return {
    lists: long,
    answer: (target) => {
      if (target.includes('/plugins/repository/')) return items;
      if (target.includes('/plugins/activity/')) return { results: items, next: null, total_count: items.length };
      return answerOf({ lists: long }, target);
    },
  };
}

/** The fault of an answer under limits; undefined if there is none. */
function faultOf(answer: Answer, { maxAnswerObjects, maxAnswerBytes }: (typeof limits)[number]): string | undefined {
  const { errors = [] } = answer;
  const data: unknown = answer.data;
  if (errors.some(({ extensions }) => extensions['code'] === 'COST_LIMIT_EXCEEDED'))
    return (data ?? null) === null ? undefined : `refused, but answered ${JSON.stringify(data)}`;
  const objects = objectsIn(data);
  const bytes = Buffer.byteLength(JSON.stringify(data ?? null));
  if (objects > maxAnswerObjects) return `answered ${objects} objects, but the limit is ${maxAnswerObjects}`;
  return bytes > maxAnswerBytes ? `answered ${bytes} bytes, but the limit is ${maxAnswerBytes}` : undefined;
}

test(`no answer has more objects or bytes than it may, interpreted or compiled (seed ${seed})`, {
  timeout: 3_600_000,
}, async () => {
  let world: World = { lists: new Map() };
  await using upstream = await startUpstream(
    handlerOf((target) => answerOf(world, target)),
    { hold: 1 },
  );
  const met = { refused: 0, answered: 0 };
  for (const limit of limits) {
    await using gateway = await startGateway(upstream, { ...limit, cursorSecret, maxPageSize });
    await assert(
      asyncProperty(gen(), async (g) => {
        const random = new Random(g);
        world = adversarial(random);
        const query = operationOf({ random, world, schema, cursors, maxPageSize, depth: 4, width: 3, absent: true });
        // From the second time on it is compiled.
        for (let times = 0; times < 3; times += 1) {
          const answer = await gateway.ask(query);
          const fault = faultOf(answer, limit);
          expect(fault === undefined ? '' : `${fault}\n${query}\nseed ${seed}`).toBe('');
          met[(answer.data ?? null) === null ? 'refused' : 'answered'] += 1;
        }
        expect(gateway.reported).toEqual([]);
      }),
      { numRuns: Math.ceil(numRuns / limits.length), seed },
    );
  }
  // Both must have been met often enough for the test to mean something.
  expect(Math.min(met.refused, met.answered)).toBeGreaterThan(numRuns / 10);
});
