import { expect, test } from 'vitest';
import type { UpstreamError } from '../../src/rest/errors.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';

function listen(deadline: OperationDeadline, settled: boolean): readonly UpstreamError[] {
  const heard: UpstreamError[] = [];
  deadline.addListener({ settled, ended: (error) => heard.push(error) });
  return heard;
}

test('a complete answer ends what is under way for it, and nothing else', () => {
  const deadline = new OperationDeadline(1000);
  const settled = listen(deadline, true);
  const open = listen(deadline, false);
  deadline.finish();
  expect([settled.length, open.length]).toEqual([0, 1]);
});

test('after a complete answer nothing may begin for it: no deadline would end it', () => {
  const deadline = new OperationDeadline(1000);
  listen(deadline, true);
  deadline.finish();
  expect(deadline.ended?.code).toBe('UPSTREAM_TIMEOUT');
});
