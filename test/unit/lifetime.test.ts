import { expect, test } from 'vitest';
import type { UpstreamError } from '../../src/rest/errors.ts';
import { Lifetime } from '../../src/rest/operation-deadline.ts';

function listen(lifetime: Lifetime, settled: boolean): readonly UpstreamError[] {
  const heard: UpstreamError[] = [];
  lifetime.onEnd({ settled, ended: (error) => heard.push(error) });
  return heard;
}

test('a complete answer ends what is under way for it, and nothing else', () => {
  const lifetime = new Lifetime(1000);
  const settled = listen(lifetime, true);
  const open = listen(lifetime, false);
  lifetime.finish();
  expect([settled.length, open.length]).toEqual([0, 1]);
});

test('after a complete answer nothing may begin for it: no deadline would end it', () => {
  const lifetime = new Lifetime(1000);
  listen(lifetime, true);
  lifetime.finish();
  expect(lifetime.ended?.code).toBe('UPSTREAM_TIMEOUT');
});
