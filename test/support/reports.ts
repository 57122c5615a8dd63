import type { OperationReport } from '../../src/operation/operation-report.ts';

/** The report of an operation that took 7 ms and made one call, unless `parts` say otherwise. */
export function reportOf(parts: Partial<OperationReport> = {}): OperationReport {
  return {
    requestId: 'r',
    traceId: undefined,
    transport: undefined,
    tool: undefined,
    document: undefined,
    unknownDocument: undefined,
    operationName: undefined,
    durationMs: 7,
    calls: 1,
    plannedCalls: 2,
    codes: [],
    caller: undefined,
    tenant: undefined,
    roles: undefined,
    subject: undefined,
    client: undefined,
    clientVersion: undefined,
    deprecated: undefined,
    ...parts,
  };
}
