import type { Caller } from '../../src/rest/caller.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { OperationEpoch } from '../../src/rest/read-your-writes.ts';
import type { RestRun } from '../../src/rest/rest-run.ts';

/** An operation of a caller that has five seconds and ten calls, unless `parts` say otherwise. */
export function runOf(caller: Caller, parts: Partial<RestRun> = {}): RestRun {
  return {
    caller,
    deadline: new OperationDeadline(5000),
    calls: new OperationCalls(10),
    epoch: new OperationEpoch(undefined, 'none'),
    ...parts,
  };
}
