import type { Log } from '../log.ts';
import type { OperationsOptions } from '../operation/pipeline.ts';
import type { ErrorReporting } from '../operation/public-errors.ts';
import type { OperationMetrics } from './operation-metrics.ts';

/** The callbacks of operations: they count operations, and log one line for each that has ended. */
export function createCallbacks(
  metrics: OperationMetrics,
  { report, log }: Pick<ErrorReporting, 'report'> & { readonly log: Log },
): Pick<OperationsOptions, 'onBegin' | 'onOpen' | 'onAnswered' | 'onPlan' | 'report'> {
  return {
    onBegin: metrics.begin,
    onOpen: metrics.open,
    onPlan: metrics.plan,
    onAnswered: (operation) => {
      metrics.end(operation);
      log('info', 'operation', operation);
    },
    report: (error) => {
      metrics.unexpected();
      report(error);
    },
  };
}
