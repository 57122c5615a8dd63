import type { Caller } from '../../src/rest/caller.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import type { Attempt, Outcome } from '../../src/rest/resilience/gate.ts';
import type { KeyTrials } from '../../src/rest/resilience/key-trials.ts';
import type { RestOperation } from '../../src/rest/rest-operations.ts';
import type { RestRun } from '../../src/rest/rest-run.ts';
import type { Tenant } from '../../src/rest/tenants.ts';
import { runOf } from './runs.ts';

/** Properties of an attempt and its run that a test may set. */
interface AttemptParts
  extends Partial<Pick<Attempt, 'endsAt' | 'isBackground' | 'isTrial' | 'isUrgent'>>,
    Partial<Pick<RestRun, 'caller' | 'calls'>> {
  readonly isWrite?: boolean;
  readonly endpoint?: RestOperation;
}

/** An attempt of a call with a key, as gates see it. */
export function attemptOf(
  key: string,
  {
    caller = { key, sharingKey: key, queueKey: key },
    calls = new OperationCalls(10),
    isWrite = false,
    endpoint = operations.listProjects,
    isUrgent = false,
    isBackground = false,
    isTrial = false,
    endsAt = 10_000,
  }: AttemptParts = {},
): Attempt {
  return {
    run: runOf(caller, { calls }),
    request: { endpoint, isWrite },
    endsAt,
    isBackground,
    mayBeStale: false,
    isUrgent,
    slot: undefined,
    reserved: undefined,
    isTrial,
    sleep: () => Promise.resolve(),
    failEarly: () => undefined,
  };
}

/** A tenant whose key the gateway holds. */
export const heldTenant: Tenant = {
  name: 'a',
  key: 'held',
  keyHash: 'held',
  entryHash: 'e',
  reach: undefined,
  mutations: new Map(),
  roles: undefined,
};

/** A success that took so many milliseconds. */
export function successAfter(tookMs: number): Outcome {
  return { kind: 'answered', status: 200, error: undefined, provesKey: true, tookMs };
}

/** A connection that was lost after so many milliseconds. */
export function lostAfter(tookMs: number): Outcome {
  return { kind: 'failed', fault: 'network', error: new Error('lost'), tookMs };
}

/** The upstream has answered a call with the key of a caller: it is proven. */
export function prove(keys: KeyTrials, caller: Caller): void {
  const attempt = attemptOf(caller.key, { caller });
  void keys.enter(attempt);
  keys.leave(attempt, successAfter(1));
}
