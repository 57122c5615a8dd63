import type { OnOperation } from '../operation/operation-report.ts';
import { answerCodes } from '../operation/request-error.ts';
import { Tally } from '../tally.ts';
import { type ClientUsage, mostClients, otherClient, type Usage } from './client-usage.ts';
import { byLabel, type Instruments, type Sample } from './instruments.ts';

export interface OperationMetrics {
  readonly begin: () => void;
  /** Counts an operation whose stream has begun, with the milliseconds since its request. */
  readonly open: (durationMs: number) => void;
  /** Counts an operation that was answered, or whose stream has ended. */
  readonly end: OnOperation;
  /** Counts a request for a plan, answered with the plan or with the reason why there is none. */
  readonly plan: () => void;
  readonly unexpected: () => void;
}

const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const usualCallBounds = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000];

/** Makes the metrics of operations. `maxUpstreamCalls` is the most REST calls that one operation may make. */
export function createOperationMetrics(
  instruments: Instruments,
  usage: ClientUsage,
  maxUpstreamCalls: number,
): OperationMetrics {
  const durations = new Tally(durationBounds);
  instruments.histogram(
    'gateway_operation_duration_seconds',
    'Time from the parameters of an operation to its answer.',
    durationBounds,
    () => [[{}, durations]],
  );
  // The limit is one of the bounds, because operations that could make more calls are refused.
  const callBounds = [...usualCallBounds.filter((bound) => bound < maxUpstreamCalls), maxUpstreamCalls];
  // The two histograms count the same operations, so that their sums can be compared.
  const [planned, made] = [new Tally(callBounds), new Tally(callBounds)];
  instruments.histogram(
    'gateway_operation_planned_calls',
    'Most REST calls that an operation could make, as known before it ran.',
    callBounds,
    () => [[{}, planned]],
  );
  instruments.histogram(
    'gateway_operation_actual_calls',
    'REST calls that an operation made. The same operations are counted as for gateway_operation_planned_calls.',
    callBounds,
    () => [[{}, made]],
  );
  const outcomes = new Map<string, number>(answerCodes.map((code) => [code, 0]));
  instruments.counter('gateway_operations_total', 'Operations answered, by the code of their first error.', () =>
    byLabel('code', outcomes),
  );
  const countListed = instruments.series(
    'gateway_listed_operations_total',
    'Operations of listed documents, by name and the code of their first error.',
    ['operation', 'code'],
  );
  measureClients(instruments, usage);
  const state = { running: 0, plans: 0, unexpected: 0 };
  instruments.counter('gateway_unexpected_errors_total', 'Faults of the gateway itself.', () => state.unexpected);
  instruments.counter(
    'gateway_plans_total',
    'Requests for the plan of an operation: nothing was executed.',
    () => state.plans,
  );
  instruments.gauge('gateway_operations_in_flight', 'Operations being answered.', () => state.running);
  const open: OperationMetrics['open'] = (durationMs) => {
    state.running -= 1;
    durations.add(durationMs / 1000);
  };
  return {
    begin: () => {
      state.running += 1;
    },
    open,
    end: (operation) => {
      const { messages, durationMs, plannedCalls, calls, document, operationName = 'anonymous' } = operation;
      const [code = 'none'] = operation.codes;
      // A stream was counted by `open` when it began. The two histograms of calls leave streams out.
      if (messages === undefined) {
        open(durationMs);
        if (plannedCalls !== undefined) {
          planned.add(plannedCalls);
          made.add(calls);
        }
      }
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
      if (document !== undefined) countListed(operationName, code);
      usage.add(operation);
    },
    plan: () => {
      state.plans += 1;
    },
    unexpected: () => {
      state.unexpected += 1;
    },
  };
}

function measureClients(instruments: Instruments, usage: ClientUsage): void {
  instruments.counter(
    'gateway_client_operations_total',
    'Operations by the name and version that their client sends, and by result.',
    () => clientSamples(usage.all()),
    // A client has two series, one for each result.
    { most: 2 * mostClients, others: otherClient },
  );
  instruments.counter(
    'gateway_deprecated_uses_total',
    'Operations that used a deprecated field or argument, by its schema coordinate and the name of the client.',
    () => {
      const uses = Map.groupBy(usage.all().deprecated, ({ coordinate, client }) => `${coordinate}\n${client}`);
      return [...uses.values()].map((rows): Sample => {
        const [{ coordinate, client } = { coordinate: '', client: '' }] = rows;
        return [{ coordinate, client }, rows.reduce((sum, { uses: count }) => sum + count, 0)];
      });
    },
    { most: mostClients, others: { client: otherClient.client } },
  );
}

function clientSamples({ operations }: Usage): readonly Sample[] {
  const clients = Map.groupBy(operations, ({ client, version }) => `${client}\n${version}`);
  return [...clients.values()].flatMap((rows): Sample[] => {
    const [{ client, version } = { client: '', version: '' }] = rows;
    const errors = rows.reduce((sum, row) => sum + row.errors, 0);
    const all = rows.reduce((sum, row) => sum + row.operations, 0);
    return [
      [{ client, version, result: 'ok' }, all - errors],
      [{ client, version, result: 'error' }, errors],
    ];
  });
}
