import type { TraceContext } from '../rest/call-spans.ts';
import type { Caller } from '../rest/client.ts';
import type { Cost } from './cost.ts';
import type { PreparedOperation } from './document.ts';
import type { GraphQLParams } from './params.ts';
import type { DocumentUse } from './persisted/uses.ts';
import type { OperationResult } from './result.ts';

/** What is told about an operation once it is answered. */
export interface OperationReport {
  readonly requestId: string;
  /** Of its span, or of the request's `traceparent`; undefined where there is neither. */
  readonly traceId: string | undefined;
  /** The id of a listed document. */
  readonly document: string | undefined;
  /** As the document says it, else as the request does; cut where it is very long. */
  readonly operationName: string | undefined;
  readonly durationMs: number;
  /** REST calls that it made. */
  readonly calls: number;
  /** The codes of its errors, each once; `CLIENT_LEFT` alone where nobody waited for them. */
  readonly codes: readonly string[];
  /** The first characters of the hash of the caller's key; undefined without a key. */
  readonly caller: string | undefined;
}

/** Hears of every operation when it is answered. */
export type OnOperation = (report: OperationReport) => void;

/** Characters of a caller's hash that tell callers apart in a log without naming them. */
const shownHash = 8;

/** Longest name of an operation that is told anywhere: it is a client's text. */
const longestName = 100;

/** The name of an operation as it is told in logs and metrics. */
export function shownName(name: string | undefined): string | undefined {
  return name?.slice(0, longestName);
}

/** What has become known of an operation on its way. */
export interface OperationProgress {
  prepared?: PreparedOperation;
  use?: DocumentUse | undefined;
  cost?: Cost;
  /** Whether its client left before it was answered. */
  left?: true;
}

/** What a report tells of the request that brought an operation. */
interface ReportedRequest {
  readonly requestId: string;
  readonly caller: Caller | undefined;
  readonly trace: TraceContext;
}

/** The report of an operation that is answered with `result`. */
export function reportOf(
  { operationName }: GraphQLParams,
  { requestId, caller, trace }: ReportedRequest,
  { use, cost, prepared, left }: OperationProgress,
  { errors = [] }: OperationResult,
  durationMs: number,
): OperationReport {
  return {
    requestId,
    traceId: trace['traceparent']?.slice(3, 35),
    document: use?.id,
    operationName: shownName(prepared?.operation.name?.value ?? operationName),
    durationMs,
    calls: cost?.calls.made ?? 0,
    codes: left ? clientLeft : codesOf(errors),
    caller: caller?.hash.slice(0, shownHash),
  };
}

const noCodes: readonly string[] = [];

/** Its calls were given up, which says nothing of the upstream. */
const clientLeft: readonly string[] = ['CLIENT_LEFT'];

function codesOf(errors: NonNullable<OperationResult['errors']>): readonly string[] {
  return errors.length === 0 ? noCodes : [...new Set(errors.map(({ extensions }) => String(extensions['code'])))];
}
