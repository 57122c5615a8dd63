import type { RefusalKind } from '../operation/request-error.ts';
import type { Instruments } from './instruments.ts';

/**
 * The reason why a request or its connection is refused before it is an operation: a refusal, or an end of the connection
 * without an answer of the gateway.
 */
export type RequestRefusal = RefusalKind | (typeof ofConnections)[number];

/** The reasons for ending a connection, or for an answer without reading the request. */
const ofConnections = [
  // The process has as many connections as it may.
  'connections',
  // The input is not HTTP.
  'malformed',
  // The head of a request is too large for Node's parser.
  'largeHead',
  // A request took too long to arrive.
  'slowRequest',
  // A client sent too many requests without waiting for an answer.
  'pipelined',
  // A client takes its answer too slowly.
  'slowReader',
  // The client accepts none of the media types that the gateway can answer with.
  'notAcceptable',
] as const;

/** The refusals of requests before there is an operation. Other refusals are counted as operations, by their code. */
const beforeOperations: readonly RefusalKind[] = [
  ...(['manyHeaders', 'badHead', 'wrongMethod', 'notJson', 'encodedBody'] as const),
  ...(['largeBody', 'noRoomForBody', 'deepJson', 'badParameter'] as const),
];

/** Counts a refused request. */
export type CountRefused = (reason: RequestRefusal) => void;

/** Counts requests that are refused before they are operations. */
export function countRefusedRequests(instruments: Instruments): CountRefused {
  const counts = new Map<RequestRefusal, number>([...ofConnections, ...beforeOperations].map((reason) => [reason, 0]));
  instruments.counter(
    'gateway_refused_requests_total',
    'Requests and connections refused before there was an operation, by reason.',
    () => [...counts].map(([reason, count]) => [{ reason: labelOf(reason) }, count]),
  );
  return (reason) => void counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

/** Labels are in snake case. */
function labelOf(reason: RequestRefusal): string {
  return reason.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
