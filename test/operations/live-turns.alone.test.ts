import { expect, onTestFinished, test, vi } from 'vitest';
import { AnswerLimits } from '../../src/operation/answer-limits.ts';
import { begun, startLive, subscribe } from '../support/live.ts';

test.each([
  ['small', 10],
  ['large', 300_000],
])('many streams write a %s message in several turns of the event loop', async (_size, length) => {
  const { upstream, events, gateway } = await startLive();
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { upstreamId properties } } }';
  const all = await Promise.all(Array.from({ length: 20 }, () => subscribe(gateway.url, { query })));
  await begun(upstream);
  const turns: number[] = [];
  let turn = 0;
  const counting = setInterval(() => (turn += 1), 0);
  onTestFinished(() => clearInterval(counting));
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its object below
  const { claimText } = AnswerLimits.prototype;
  const spy = vi.spyOn(AnswerLimits.prototype, 'claimText').mockImplementation(function (this: AnswerLimits, ...args) {
    turns.push(turn);
    for (const until = performance.now() + 10; performance.now() < until; );
    return claimText.apply(this, args);
  });
  onTestFinished(() => spy.mockRestore());
  events.add(1, '2024-05-01T10:00:01Z', { properties: 'x'.repeat(length) });
  await Promise.all(all.map((heard) => heard.until(() => heard.messages.length === 1)));
  expect(turns).toHaveLength(all.length);
  expect(new Set(turns).size).toBeGreaterThan(2);
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
});
