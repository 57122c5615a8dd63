import type { OnOperation } from '../operation/operation-report.ts';
import { answerCodes } from '../operation/request-error.ts';
import { Tally } from '../tally.ts';
import type { ClientUsage } from './client-usage.ts';
import type { Instruments } from './instruments.ts';

/** Counts operations. */
export interface OperationMetrics {
  readonly begin: () => void;
  readonly end: OnOperation;
  /** Counts an operation whose stream has begun, with the milliseconds since its request. */
  readonly open: (durationMs: number) => void;
  readonly close: OnOperation;
  /** Counts a plan that was sent to a client, or the reason why there is none. */
  readonly plan: () => void;
  readonly unexpected: () => void;
}

const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const usualCallBounds = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000];

/** Makes the metrics of operations, by the most REST calls that each may make. */
export function createOperationMetrics(instruments: Instruments, maxUpstreamCalls: number): OperationMetrics {
  const outcomes = new Map<string, number>(answerCodes.map((code) => [code, 0]));
  const listedOutcomes = new Map<string, ListedOutcome>();
  const state = { running: 0, plans: 0, unexpected: 0 };
  const durations = new Tally(durationBounds);
  const addCalls = measureCalls(instruments, maxUpstreamCalls);
  measureDurations(instruments, durations);
  measureOutcomes(instruments, outcomes, listedOutcomes);
  measureState(instruments, state);
  const open: OperationMetrics['open'] = (durationMs) => {
    state.running -= 1;
    durations.add(durationMs / 1000);
  };
  const close: OnOperation = ({ codes: [code = 'none'], document, operationName = 'anonymous' }) => {
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    if (document !== undefined) countListed(listedOutcomes, operationName, code);
  };
  return {
    begin: () => {
      state.running += 1;
    },
    end: (operation) => {
      const { durationMs, plannedCalls, calls } = operation;
      open(durationMs);
      if (plannedCalls !== undefined) addCalls(plannedCalls, calls);
      close(operation);
    },
    open,
    close,
    plan: () => {
      state.plans += 1;
    },
    unexpected: () => {
      state.unexpected += 1;
    },
  };
}

/**
 * Makes the histograms of planned and of made calls. Both count the same operations, so that their sums can be
 * compared.
 */
function measureCalls(instruments: Instruments, limit: number): (planned: number, made: number) => void {
  // The limit is one of the bounds, because operations that plan more are refused.
  const bounds = [...usualCallBounds.filter((bound) => bound < limit), limit];
  const [planned, made] = [new Tally(bounds), new Tally(bounds)];
  const measure = (name: string, help: string, tally: Tally): void =>
    instruments.histogram(name, help, undefined, bounds, () => new Map([['', tally]]));
  measure(
    'gateway_operation_planned_calls',
    'REST calls that an operation could make at most, as known before it ran.',
    planned,
  );
  measure(
    'gateway_operation_actual_calls',
    'REST calls that an operation made, of those operations whose planned calls are counted.',
    made,
  );
  return (plannedCalls, calls) => {
    planned.add(plannedCalls);
    made.add(calls);
  };
}

function measureDurations(instruments: Instruments, durations: Tally): void {
  instruments.histogram(
    'gateway_operation_duration_seconds',
    'Time from the parameters of an operation to its answer.',
    undefined,
    durationBounds,
    () => new Map([['', durations]]),
  );
}

/** The counts of operations that do not depend on their results. */
interface State {
  readonly running: number;
  readonly plans: number;
  readonly unexpected: number;
}

function measureState(instruments: Instruments, state: State): void {
  instruments.total('gateway_unexpected_errors_total', 'Faults of the gateway itself.', () => state.unexpected);
  instruments.total(
    'gateway_plans_total',
    'Requests for the plan of an operation: nothing was executed.',
    () => state.plans,
  );
  instruments.gauge('gateway_operations_in_flight', 'Operations being answered.', () => state.running);
}

function measureOutcomes(
  instruments: Instruments,
  outcomes: ReadonlyMap<string, number>,
  listedOutcomes: ReadonlyMap<string, ListedOutcome>,
): void {
  instruments.counters(
    'gateway_operations_total',
    'Operations answered, by the code of their first error.',
    'code',
    () => outcomes,
  );
  instruments.counter(
    'gateway_listed_operations_total',
    'Operations of listed documents, by name and the code of their first error.',
    ['operation', 'code'],
    () => [...listedOutcomes.values()].map(({ operation, code, count }) => [{ operation, code }, count]),
  );
}

interface ListedOutcome {
  readonly operation: string;
  readonly code: string;
  count: number;
}

/** The most series of listed documents: more than manifests have, even if they are read again many times. */
const mostListedOutcomes = 10_000;

function countListed(outcomes: Map<string, ListedOutcome>, operation: string, code: string): void {
  const name = `${operation} ${code}`;
  const known = outcomes.get(name);
  if (known !== undefined) known.count += 1;
  else if (outcomes.size < mostListedOutcomes) outcomes.set(name, { operation, code, count: 1 });
}

/** Counts operations by client, and those that use deprecated fields or arguments. */
export function measureClients(instruments: Instruments, usage: ClientUsage): void {
  instruments.counter(
    'gateway_client_operations_total',
    'Operations by the name and version that their client gives itself, and by whether they were answered without errors.',
    ['client', 'version', 'result'],
    () => {
      const counts = Map.groupBy(usage.all().operations, ({ client, version }) => `${client}\n${version}`);
      return [...counts.values()].flatMap((rows) => {
        const [{ client, version } = { client: '', version: '' }] = rows;
        const errors = rows.reduce((sum, row) => sum + row.errors, 0);
        const all = rows.reduce((sum, { operations }) => sum + operations, 0);
        return [
          [{ client, version, result: 'ok' }, all - errors],
          [{ client, version, result: 'error' }, errors],
        ];
      });
    },
  );
  instruments.counter(
    'gateway_deprecated_uses_total',
    'Operations that used a deprecated field or argument, by its schema coordinate and the name of the client.',
    ['coordinate', 'client'],
    () => {
      const uses = Map.groupBy(usage.all().deprecated, ({ coordinate, client }) => `${coordinate}\n${client}`);
      return [...uses.values()].map((rows) => {
        const [{ coordinate, client } = { coordinate: '', client: '' }] = rows;
        return [{ coordinate, client }, rows.reduce((sum, { uses: count }) => sum + count, 0)];
      });
    },
  );
}
