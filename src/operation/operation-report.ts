import { refusals } from './error-codes.ts';
import type { OperationRun, RequestContext } from './operation-run.ts';
import type { GraphQLParams } from './params.ts';
import { documentIdOf } from './persisted/ids.ts';
import type { OperationResult } from './result.ts';
import type { StreamEnd } from './subscriptions.ts';

/** What logs, metrics and spans say about an operation once it is answered. */
export interface OperationReport {
  readonly requestId: string;
  /** Of its span, or of the request's `traceparent`; undefined if there is neither. */
  readonly traceId: string | undefined;
  /** How an agent came; undefined for all others. */
  readonly transport: 'mcp' | undefined;
  /** The tool that an agent used. */
  readonly tool: string | undefined;
  /** The id of a listed document. */
  readonly document: string | undefined;
  /** The id that its request named, if no document is known by it: it is a client's text, and cut if it is very long. */
  readonly unknownDocument: string | undefined;
  /** As the document says it, else as the request does; cut if it is very long. */
  readonly operationName: string | undefined;
  readonly durationMs: number;
  /** REST calls that it made; of a subscription those of its messages, and not the polls that it shares. */
  readonly calls: number;
  /** REST calls that it could make at most, as known before it ran; undefined if that was not known. */
  readonly plannedCalls: number | undefined;
  /** Messages that a subscription sent; undefined for other operations. */
  readonly messages?: number;
  /** The codes of its errors, each once; `CLIENT_LEFT` alone if its client had left before it was answered. */
  readonly codes: readonly string[];
  /** The first characters of the hash of the caller's key; undefined without one, and if the gateway holds it. */
  readonly caller: string | undefined;
  /** For whom the gateway holds the key. */
  readonly tenant: string | undefined;
  /** The first characters of the hash of the tenant's user. */
  readonly subject: string | undefined;
  /** The name that its client gives itself, and the version; undefined if it does not say them. */
  readonly client: string | undefined;
  readonly clientVersion: string | undefined;
  /** The deprecated fields and arguments that it uses, as schema coordinates; undefined if there are none. */
  readonly deprecated: readonly string[] | undefined;
}

/** Called with every operation when it is answered. */
export type OnOperation = (report: OperationReport) => void;

/** Characters of a caller's hash that tell callers apart in a log without naming them. */
const shownHash = 8;

/** Longest text of a client in logs and metrics, in characters: the name of an operation, or the id of a document. */
const longestText = 100;

/** The name of an operation as logs and metrics have it. */
export function shownName(name: string | undefined): string | undefined {
  return name?.slice(0, longestText);
}

/** A client's text as logs and labels have it: without characters that control a terminal or change how a line reads. */
function shownText(text: string | undefined): string | undefined {
  return text?.slice(0, longestText).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
}

/** The codes of requests whose id names no document. */
const unknownIdCodes: ReadonlySet<string> = new Set(
  [refusals.unknownDocument, refusals.automaticMiss, refusals.automaticOff].map(({ code }) => code),
);

function unknownIdOf(params: GraphQLParams, codes: readonly string[]): string | undefined {
  return codes.some((code) => unknownIdCodes.has(code)) ? shownText(documentIdOf(params)?.id) : undefined;
}

/** The report of an operation that is answered with `result`. */
export function reportOf(
  { params, request, document, cost, startedAt }: OperationRun,
  { errors = [] }: OperationResult,
): OperationReport {
  const { requestId, caller, trace, tool } = request;
  const tenant = caller?.tenant;
  const codes = codesOf(request, errors);
  return {
    requestId,
    traceId: trace['traceparent']?.slice(3, 35),
    transport: tool === undefined ? undefined : 'mcp',
    tool,
    document: document?.use?.id,
    unknownDocument: document === undefined ? unknownIdOf(params, codes) : undefined,
    operationName: shownName(document?.prepared.operation.name?.value ?? params.operationName),
    durationMs: performance.now() - startedAt,
    calls: cost?.calls.made ?? 0,
    plannedCalls: cost?.plannedCalls,
    codes,
    caller: tenant === undefined ? caller?.hash.slice(0, shownHash) : undefined,
    tenant: tenant?.name,
    subject: caller?.subject?.slice(0, shownHash),
    client: shownText(request.client?.name),
    clientVersion: shownText(request.client?.version),
    deprecated: document?.prepared.deprecated,
  };
}

/** The report of a subscription whose stream has ended. That its client leaves is no failure. */
export function streamReportOf(run: OperationRun, { messages, calls, errors = [] }: StreamEnd): OperationReport {
  return { ...reportOf(run, { errors }), calls, messages, codes: distinctCodes(errors) };
}

const noCodes: readonly string[] = [];

/** Its calls were given up, which says nothing of the upstream. */
const clientLeft: readonly string[] = ['CLIENT_LEFT'];

/** The codes of the errors of an operation, each once; `CLIENT_LEFT` alone if its client had left before it was answered. */
export function codesOf(
  request: Pick<RequestContext, 'hasLeft'>,
  errors: OperationResult['errors'] = [],
): readonly string[] {
  return request.hasLeft() ? clientLeft : distinctCodes(errors);
}

function distinctCodes(errors: NonNullable<OperationResult['errors']>): readonly string[] {
  return errors.length === 0 ? noCodes : [...new Set(errors.map(({ extensions }) => String(extensions['code'])))];
}
