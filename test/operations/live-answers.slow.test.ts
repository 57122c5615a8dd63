import { expect, test } from 'vitest';
import { stall, startEvents, subscribe } from '../support/live.ts';
import { startSmallGateway } from '../support/small-gateway.ts';

test('streams keep no answers that they have sent, even if a message of theirs waits for one that stopped reading', async () => {
  await using upstream = await startEvents();
  const { events } = upstream;
  const settings = { LIVE: 'on', LIVE_POLL_SECONDS: '2', UPSTREAM_BUDGET: 'rest=100000/60 events=100000/60' };
  await using gateway = await startSmallGateway(upstream, settings);
  const stalled = await stall(gateway.url);
  const all = await Promise.all(
    Array.from({ length: 19 }, (_, index) => {
      const aliases = Array.from({ length: 20 }, (__, alias) => `a${index}x${alias}: properties`);
      return subscribe(gateway.url, {
        query: `subscription { eventsAdded(projectId: 1) { nodes { ${aliases.join(' ')} } } }`,
      });
    }),
  );
  const hear = async (message: number, properties: string): Promise<void> => {
    // So far apart that no poll reads what was told before.
    events.add(10, new Date(Date.parse('2024-05-01T10:00:00Z') + message * 120_000).toISOString(), { properties });
    await Promise.all(all.map((heard) => heard.until(() => heard.messages.length === message)));
  };
  await expect.poll(() => upstream.requests.length, { timeout: 20_000 }).toBeGreaterThan(1);
  await hear(1, 'x');
  const { live } = await gateway.weigh();
  await hear(2, 'x'.repeat(10_000));
  // Answers are kept for five seconds, and a client that stops reading for fifteen.
  const weigh = async (): Promise<number> => (await gateway.weigh()).live - live;
  await expect.poll(weigh, { timeout: 12_000, interval: 1000 }).toBeLessThan(10 * 2 ** 20);
  stalled.destroy();
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
});
