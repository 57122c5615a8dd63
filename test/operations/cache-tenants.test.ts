import { expect, test } from 'vitest';
import { cacheSettings } from '../support/cache.ts';
import { at } from '../support/connections.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { project } from '../support/rows.ts';
import { type Entries, startTenants, type TenantGateway } from '../support/tenants.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Two tenants with a key each, and two that share one and reach different projects with it. */
const entries: Entries = {
  acme: { key: 'phx_acme', mutations: ['updateProject'] },
  globex: { key: 'phx_globex' },
  north: { key: 'phx_shared', projects: ['1', '2'] },
  south: { key: 'phx_shared', projects: ['3'] },
};

/** What each tenant is to see of the projects 1 to 3. */
const seen = {
  acme: ['phx_acme 1', 'phx_acme 2', 'phx_acme 3'],
  globex: ['phx_globex 1', 'phx_globex 2', 'phx_globex 3'],
  north: ['phx_shared 1', 'phx_shared 2', null],
  south: [null, null, 'phx_shared 3'],
} as const;

/** Every row tells the key that it was read with. */
function startApi(): Promise<Upstream> {
  return startUpstream(
    ({ path, headers }) => {
      const id = Number(path.split('/')[3]);
      return project(id, { name: `${headers.authorization?.slice('Bearer '.length)} ${id}` });
    },
    { hold: 1 },
  );
}

async function seenBy(gateway: TenantGateway, tenant: string): Promise<unknown> {
  const columns = '{ name updatedAt }';
  const fields = [1, 2, 3].map((id) => `p${id}: project(id: ${id}) ${columns}`).join(' ');
  const answer = await gateway.askAs(tenant, `{ ${fields} }`);
  return ['p1', 'p2', 'p3'].map((name) =>
    at(answer, 'data', name) === null ? null : at(answer, 'data', name, 'name'),
  );
}

/** Asks every gateway as every tenant, again and again, with writes between. */
async function expectOwn(gateways: readonly TenantGateway[]): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    for (const [tenant, expected] of Object.entries(seen)) {
      const answers = await Promise.all(gateways.map((gateway) => seenBy(gateway, tenant)));
      expect([round, tenant, ...answers]).toEqual([round, tenant, ...gateways.map(() => expected)]);
    }
    if (round === 1) {
      await gateways[0]?.askAs('acme', 'mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }');
    }
  }
}

test('no tenant is given what another one has read, or what is out of its reach', async () => {
  await using upstream = await startApi();
  await using gateway = await startTenants(upstream, entries, { cache: cacheSettings });
  await expectOwn([gateway]);
  // Those of acme once more after its write.
  expect(upstream.requests.filter((request) => request.startsWith('GET'))).toHaveLength(3 + 3 + 3 + 3);
});

test.skipIf(!hasRedis)(
  'no tenant is given what another one has read over two gateways with one Redis, either',
  async () => {
    await using redis = await startRedis();
    await using upstream = await startApi();
    const started = async (): Promise<TenantGateway> => {
      const logged: string[] = [];
      const gateway = await startTenants(upstream, entries, {
        cache: cacheSettings,
        persisted: { redisUrl: redis.url },
        log: (_level, message) => void logged.push(message),
      });
      await expect.poll(() => logged, { interval: 5 }).toContain('Redis is up');
      return gateway;
    };
    await using one = await started();
    await using two = await started();
    await expectOwn([one, two]);
    const names: unknown = await redis.ask('KEYS', 'cache:answer:*');
    expect(names).toSatisfy((all: unknown) => Array.isArray(all) && all.length >= 9);
  },
);
