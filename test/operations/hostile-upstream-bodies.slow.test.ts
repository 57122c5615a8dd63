import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { inForm } from '../support/form.ts';
import type { Answer } from '../support/gateway.ts';
import { as, together } from '../support/load.ts';
import { reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, project } from '../support/rows.ts';
import { type SmallGateway, startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const honest = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';

/** Reads every dashboard by its key, and answers next to nothing of it. */
const readsMuch = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Dashboard { filters } } }';

function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => toGlobalId({ type: 'Dashboard', scope: '1', id: `${at + 1}` }));
}

/** Dashboards with a further column: a text of JSON. */
function routesWith(column: string, isCompressed: boolean): Routes {
  const code = (text: string): Buffer => (isCompressed ? gzipSync(text, { level: 1 }) : Buffer.from(text));
  const end = code(`,"extra":${column}}`);
  const headers = isCompressed ? { 'content-encoding': 'gzip' } : {};
  return {
    'GET /api/projects/1/': project(1),
    'GET /api/projects/1/dashboards/:id/': ({ params }) => {
      const row = JSON.stringify(dashboard(Number(params['id'])));
      return reply({ headers, body: Buffer.concat([code(row.slice(0, -1)), end]) });
    },
  };
}

/** A busy machine takes long for so many bytes. */
const patient = { OPERATION_DEADLINE_MS: '60000' };

/** A gateway that has answered once already. */
async function startOver(upstream: Upstream): Promise<SmallGateway> {
  upstream.release();
  const gateway = await startSmallGateway(upstream, patient);
  expect((await gateway.ask(honest)).body).toBe(whole);
  return gateway;
}

function outcomeOf({ status, errors }: Answer): string {
  return `${status} ${String(errors?.[0]?.extensions['code'])}`;
}

const longText = JSON.stringify('x'.repeat(7_900_000));
const bodies: readonly (readonly [name: string, column: string, isCompressed: boolean])[] = [
  ['one long text each', longText, false],
  ['one long text each, compressed', longText, true],
  ['very many small objects', `[{}${',{}'.repeat(200_000)}]`, false],
  ['very many small objects, compressed', `[{}${',{}'.repeat(2_000_000)}]`, true],
];

test.each(bodies)(
  'operations that read much of the upstream and answer little end, each alone or all together: %s',
  {
    timeout: 180_000,
  },
  async (_name, column, isCompressed) => {
    await using upstream = await startUpstream(routesWith(column, isCompressed));
    await using gateway = await startOver(upstream);
    const variables = { ids: idsOf(inForm(12, 25)) };
    await withstand(gateway, async () => {
      const known = new Set(['200 COST_LIMIT_EXCEEDED', '503 OVERLOADED']);
      const alone = await gateway.ask(readsMuch, { variables: { ids: idsOf(inForm(12, 20)) } });
      expect(known.has(outcomeOf(alone)) ? 'known' : outcomeOf(alone)).toBe('known');
      expect([alone.data ?? null, alone.errors?.length]).toEqual([null, 1]);
      const beside = together(5, 1, () => gateway.ask(honest));
      const answers = await together(inForm(3, 9), 3, (at) =>
        gateway.ask(readsMuch, { variables, ...as(`phx_${at}`) }),
      );
      // If the machine is busy, not all of these bodies come, or are read, in time.
      const expected = known.union(new Set(['200 UPSTREAM_TIMEOUT', '200 OVERLOADED']));
      expect(answers.map(outcomeOf).filter((outcome) => !expected.has(outcome))).toEqual([]);
      expect((await beside).map(({ body }) => body)).toEqual(Array.from({ length: 5 }, () => whole));
    });
  },
);

test('an operation that keeps more than it may of the upstream is answered without data, with the reason', async () => {
  await using upstream = await startUpstream(routesWith(JSON.stringify('x'.repeat(7_000_000)), false));
  await using gateway = await startOver(upstream);
  await withstand(gateway, async () => {
    const answer = await gateway.ask(readsMuch, { variables: { ids: idsOf(10) } });
    const { errors = [] } = answer;
    expect([answer.status, errors.length]).toEqual([200, 1]);
    expect(answer.data).toBeNull();
    expect(errors[0]?.extensions).toMatchObject({
      code: 'COST_LIMIT_EXCEEDED',
      limit: 67_108_864,
    });
    expect(String(errors[0]?.extensions['path'])).toMatch(/^nodes(\.filters)?$/);
  });
});

test('what an operation kept is given back once it is answered', { timeout: 120_000 }, async () => {
  await using upstream = await startUpstream(routesWith(JSON.stringify('x'.repeat(5_000_000)), false));
  await using gateway = await startOver(upstream);
  const variables = { ids: idsOf(8) };
  await withstand(gateway, async () => {
    for (let times = 0; times < inForm(3, 8); times += 1)
      expect(outcomeOf(await gateway.ask(readsMuch, { variables }))).toBe('200 undefined');
  });
});
