import { expect, test } from 'vitest';
import { inForm } from '../support/form.ts';
import { runMain } from '../support/process.ts';
import { askOne, askUntilAnswered, expectLeft, overload, rates, startThrottled } from '../support/throttled.ts';

test('four workers share one budget: a key gets not one 429 under three times its load, and what is left is right', {
  timeout: inForm(60_000, 900_000),
}, async () => {
  await using throttled = await startThrottled();
  await using running = runMain([], {
    ...{ PORT: '0', WORKERS: '4', LOG_LEVEL: 'warn', UPSTREAM_URL: throttled.upstream.url },
    ...{ UPSTREAM_BUDGET: `rest=${rates}`, OPERATION_DEADLINE_MS: '1500' },
  });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  // Until a worker knows that the key is one, the others do not count its calls.
  for (let worker = 0; worker < 4; worker += 1) await askOne(url, 1);
  const answers = await overload([url]);
  expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
  expect(throttled.answered(429)).toBe(0);
  // More than one window of calls.
  expect(throttled.upstream.requests.length).toBeGreaterThan(inForm(20, 60));
  expectLeft(await askUntilAnswered(url), throttled, answers);
});
