import type { Registry } from 'prom-client';
import { answerCodes } from '../operation/error-codes.ts';
import { counter, gauge, histogram, Tally } from './instruments.ts';

/** Counts operations. */
export interface OperationMetrics {
  /** An operation began. */
  readonly begin: () => void;
  /** It was answered. `code` is that of its first error, `listed` its name if its document is listed. */
  readonly end: (durationMs: number, code: string | undefined, listed?: string) => void;
  /** There was a fault of the gateway. */
  readonly unexpected: () => void;
}

const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Makes the metrics of operations. */
export function createOperationMetrics(registers: Registry[]): OperationMetrics {
  const outcomes = new Map<string, number>(answerCodes.map((code) => [code, 0]));
  const listedOutcomes = new Map<string, ListedOutcome>();
  const state = { running: 0, unexpected: 0 };
  const durations = new Tally(durationBounds);
  histogram(
    registers,
    'gateway_operation_duration_seconds',
    'Time from the parameters of an operation to its answer.',
    undefined,
    durationBounds,
    () => new Map([['', durations]]),
  );
  measureOutcomes(registers, outcomes, listedOutcomes);
  counter(registers, 'gateway_unexpected_errors_total', 'Faults of the gateway itself.', [], () => [
    [{}, state.unexpected],
  ]);
  gauge(registers, 'gateway_operations_in_flight', 'Operations being answered.', () => state.running);
  return {
    begin: () => {
      state.running += 1;
    },
    end: (durationMs, code = 'none', listed) => {
      state.running -= 1;
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
      durations.add(durationMs / 1000);
      if (listed !== undefined) countListed(listedOutcomes, listed, code);
    },
    unexpected: () => {
      state.unexpected += 1;
    },
  };
}

function measureOutcomes(
  registers: Registry[],
  outcomes: ReadonlyMap<string, number>,
  listedOutcomes: ReadonlyMap<string, ListedOutcome>,
): void {
  counter(
    registers,
    'gateway_operations_total',
    'Operations answered, by the code of their first error.',
    ['code'],
    () => [...outcomes].map(([code, value]) => [{ code }, value]),
  );
  counter(
    registers,
    'gateway_listed_operations_total',
    'Operations of listed documents, by name and the code of their first error.',
    ['operation', 'code'],
    () => [...listedOutcomes.values()].map(({ operation, code, count }) => [{ operation, code }, count]),
  );
}

/** How often an operation of a listed document ended in one way. */
interface ListedOutcome {
  readonly operation: string;
  readonly code: string;
  count: number;
}

/** More names and codes than manifests have, even if they are read anew again and again. */
const mostListedOutcomes = 10_000;

function countListed(outcomes: Map<string, ListedOutcome>, operation: string, code: string): void {
  const name = `${operation} ${code}`;
  const known = outcomes.get(name);
  if (known !== undefined) known.count += 1;
  else if (outcomes.size < mostListedOutcomes) outcomes.set(name, { operation, code, count: 1 });
}
