import type { OperationResult } from './operation-result.ts';
import type { AnsweredOperation, RequestContext } from './operation-run.ts';
import type { GraphQLParams } from './params.ts';
import { documentIdOf } from './persisted/ids.ts';
import { refusals } from './request-error.ts';
import type { StreamEnd } from './subscriptions.ts';

/** The facts about an answered operation for logs, metrics and spans. */
export interface OperationReport {
  readonly requestId: string;
  /** The trace id of its span, or else of the request's `traceparent`. */
  readonly traceId: string | undefined;
  /** `mcp` if an agent uses a tool. */
  readonly transport: 'mcp' | undefined;
  readonly tool: string | undefined;
  readonly document: string | undefined;
  /** The id in its request, if no document has that id; cut if it is very long. */
  readonly unknownDocument: string | undefined;
  /** The name in the document, or else in the request; cut if it is very long. */
  readonly operationName: string | undefined;
  readonly durationMs: number;
  /** The number of REST calls that it made. For a subscription, polls do not count, because they are shared. */
  readonly calls: number;
  /** The most REST calls that it could make, if that was known before it ran. */
  readonly plannedCalls: number | undefined;
  readonly messages?: number;
  /** The codes of its errors, each once; `CLIENT_LEFT` alone if its client had left before it was answered. */
  readonly codes: readonly string[];
  /** The first characters of the hash of the caller's key; undefined if the gateway holds the keys. */
  readonly caller: string | undefined;
  readonly tenant: string | undefined;
  /** The roles in the entry of the tenant that allow the operation; only the first ones if there are many. */
  readonly roles: readonly string[] | undefined;
  /** The first characters of the hash of the tenant's user. */
  readonly subject: string | undefined;
  readonly client: string | undefined;
  readonly clientVersion: string | undefined;
  readonly deprecated: readonly string[] | undefined;
}

/** Called with the report of each operation when the operation has been answered. */
export type OnOperation = (report: OperationReport) => void;

/** The characters of a hash that logs show: enough to distinguish callers without naming them. */
const shownHash = 8;

/** The length to which logs and metrics cut texts that a client chose, such as the name of an operation. */
const longestText = 100;

const mostRoles = 20;

/** The name of an operation for logs and metrics. */
export function shownName(name: string | undefined): string | undefined {
  return name?.slice(0, longestText);
}

/** A client's text for logs and labels, without characters that control a terminal or reorder a line. */
function shownText(text: string | undefined): string | undefined {
  return text?.slice(0, longestText).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
}

/** The codes of requests whose id matches no document. */
const unknownIdCodes: ReadonlySet<string> = new Set(
  [refusals.unknownDocument, refusals.automaticMiss, refusals.automaticOff].map(({ code }) => code),
);

function unknownIdOf(params: GraphQLParams, codes: readonly string[]): string | undefined {
  return codes.some((code) => unknownIdCodes.has(code)) ? shownText(documentIdOf(params)?.id) : undefined;
}

/** The report of an operation that is answered with `result`. */
export function reportOf(
  { params, request, document, cost, startedAt }: AnsweredOperation,
  { errors = [] }: OperationResult,
): OperationReport {
  const { requestId, caller, trace, tool, client } = request;
  const tenant = caller?.tenant;
  const codes = codesOf(request, errors);
  return {
    requestId,
    traceId: trace['traceparent']?.slice(3, 35),
    transport: tool === undefined ? undefined : 'mcp',
    tool,
    document: document?.counts?.id,
    unknownDocument: document === undefined ? unknownIdOf(params, codes) : undefined,
    operationName: shownName(document?.prepared.operation.name?.value ?? params.operationName),
    durationMs: performance.now() - startedAt,
    calls: cost?.calls.made ?? 0,
    plannedCalls: cost?.plannedCalls,
    codes,
    caller: tenant === undefined ? caller?.sharingKey.slice(0, shownHash) : undefined,
    tenant: tenant?.name,
    roles: tenant?.roles && [...tenant.roles.keys()].slice(0, mostRoles),
    subject: caller?.subject?.slice(0, shownHash),
    client: shownText(client?.name),
    clientVersion: shownText(client?.version),
    deprecated: document?.prepared.deprecated,
  };
}

/** The report of a subscription whose stream has ended. A client that leaves is not a failure. */
export function streamReportOf(
  operation: AnsweredOperation,
  { messages, calls, errors = [] }: StreamEnd,
): OperationReport {
  return { ...reportOf(operation, { errors }), calls, messages, codes: distinctCodes(errors) };
}

const noCodes: readonly string[] = [];

/** The codes of an operation whose client has left. Its calls were aborted, which says nothing about the upstream. */
const clientLeft: readonly string[] = ['CLIENT_LEFT'];

/** The codes of the errors of an operation, each once; `CLIENT_LEFT` alone if its client had left before the answer. */
export function codesOf(
  request: Pick<RequestContext, 'hasLeft'>,
  errors: OperationResult['errors'] = [],
): readonly string[] {
  return request.hasLeft() ? clientLeft : distinctCodes(errors);
}

function distinctCodes(errors: NonNullable<OperationResult['errors']>): readonly string[] {
  return errors.length === 0 ? noCodes : [...new Set(errors.map(({ extensions }) => String(extensions['code'])))];
}
