import { expect, test } from 'vitest';
import { inForm } from '../support/form.ts';
import { pause } from '../support/load.ts';
import { runMain } from '../support/process.ts';
import { askOne, overload, rates, startThrottled } from '../support/throttled.ts';

test('four workers share one budget: a key gets not one 429 under three times its load, and what is left is right', {
  timeout: inForm(60_000, 900_000),
}, async () => {
  await using throttled = await startThrottled();
  await using running = runMain([], {
    ...{ PORT: '0', WORKERS: '4', LOG_LEVEL: 'warn', UPSTREAM_URL: throttled.upstream.url },
    ...{ UPSTREAM_BUDGET: `rest=${rates}`, OPERATION_DEADLINE_MS: '1500' },
  });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  await askOne(url, 1);
  const answers = await overload([url]);
  expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
  expect(throttled.answered(429)).toBe(0);
  // The budget is used up: in every window but the last as many calls as it allows.
  expect(throttled.upstream.requests.length).toBeGreaterThanOrEqual(60);
  const last = await askUntilAnswered(url);
  const limit = Number(/,(\d+)/.exec(rates)?.[1]);
  expect(last.extensions).toMatchObject({
    cost: { budget: [{ surface: 'rest' }, { limit, remaining: limit - throttled.upstream.requests.length }] },
  });
});

async function askUntilAnswered(url: string): ReturnType<typeof askOne> {
  for (;;) {
    const answer = await askOne(url, 1);
    if (answer.status === 200 && answer.errors === undefined) return answer;
    await pause(50);
  }
}
