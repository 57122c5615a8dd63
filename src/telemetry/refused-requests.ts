import type { RefusalKind } from '../operation/request-error.ts';
import { byLabel, type Instruments } from './instruments.ts';

/** The reasons why the server ends a connection, or answers a request without reading it, with their labels. */
const ofConnections = {
  // The process has as many connections as it may.
  connections: 'connections',
  // The input is not HTTP.
  malformed: 'malformed',
  // The head of a request is too large for Node's parser.
  largeHead: 'large_head',
  // A request took too long to arrive.
  slowRequest: 'slow_request',
  // A client sent too many requests without waiting for an answer.
  pipelined: 'pipelined',
  // There is no memory left for one more request that has to wait for an earlier answer of its connection.
  noRoomToWait: 'no_room_to_wait',
  // A client takes its answer too slowly.
  slowReader: 'slow_reader',
  // The client accepts none of the media types that the gateway can answer with.
  notAcceptable: 'not_acceptable',
} as const;

/**
 * The refusals of requests before there is an operation, with their labels. Other refusals are counted as operations,
 * by their code.
 */
const beforeOperations = {
  manyHeaders: 'many_headers',
  badHead: 'bad_head',
  wrongMethod: 'wrong_method',
  notJson: 'not_json',
  encodedBody: 'encoded_body',
  largeBody: 'large_body',
  noRoomForBody: 'no_room_for_body',
  deepJson: 'deep_json',
  badParameter: 'bad_parameter',
} as const satisfies Partial<Record<RefusalKind, string>>;

/** The labels are written out here, so that a refusal can be renamed without a change of the metric. */
const labels = { ...ofConnections, ...beforeOperations };

/** The reason why a request or its connection is refused before there is an operation. */
export type RequestRefusal = keyof typeof labels;

export function isRequestRefusal(kind: string): kind is RequestRefusal {
  return Object.hasOwn(labels, kind);
}

export type CountRefused = (reason: RequestRefusal) => void;

export function countRefusedRequests(instruments: Instruments): CountRefused {
  const counts = new Map<string, number>(Object.values(labels).map((label) => [label, 0]));
  instruments.counter(
    'gateway_refused_requests_total',
    'Requests and connections refused before there was an operation, by reason.',
    () => byLabel('reason', counts),
  );
  return (reason) => void counts.set(labels[reason], (counts.get(labels[reason]) ?? 0) + 1);
}
