import { UpstreamError } from '../errors.ts';
import { fromTransport, toUpstreamError } from '../failures.ts';
import { decodeBody, textOf } from './decode.ts';
import { type Abort, type Call, type RawResponse, type Transport, TransportError } from './transport.ts';

/** What became of a call: its HTTP status and its decoded body, empty where there was none. */
export interface DecodedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/**
 * What hears how something ended: a response, or why there is none. A call back and not a promise, because each promise on
 * the way of every call costs more than what happens in it.
 */
export interface Outcome {
  readonly succeed: (response: DecodedResponse) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Sends a call once. Fails with an UpstreamError for every status but 2xx, with a TransportError without a response;
 * never before this has returned.
 */
export function send(transport: Transport, call: Call, key: string, maxBodyBytes: number, outcome: Outcome): Abort {
  return transport.send(call, (error, answer) => {
    if (answer === undefined) outcome.fail(error ?? new TransportError('network'));
    else decode(answer, key, maxBodyBytes, outcome);
  });
}

/** A failure as the domain error that resolvers may see. */
export function toDomainError(error: unknown): unknown {
  return error instanceof TransportError ? fromTransport(error) : error;
}

function decode(answer: RawResponse, key: string, maxBodyBytes: number, outcome: Outcome): void {
  const { headers, body } = answer;
  const coding = headers['content-encoding'];
  if (coding === undefined || body.length === 0) settle(answer, textIn(body), key, outcome);
  else {
    decodeBody(body, coding, maxBodyBytes).then(
      (text) => settle(answer, text, key, outcome),
      () => settle(answer, undefined, key, outcome),
    );
  }
}

/** Whatever is thrown on the way to a response is how the call failed: undici would swallow it, and nobody be answered. */
function settle(answer: RawResponse, text: string | undefined, key: string, outcome: Outcome): void {
  let response: DecodedResponse;
  answer.release();
  try {
    response = toDecoded(answer, text, key);
  } catch (error) {
    return outcome.fail(error);
  }
  outcome.succeed(response);
}

/** `text` is undefined where the body could not be decoded. */
function toDecoded({ status, headers }: RawResponse, text: string | undefined, key: string): DecodedResponse {
  if (status < 200 || status > 299) throw toUpstreamError(status, headers, text ?? '', key);
  if (text === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return { status, contentType: headers['content-type'] ?? '', text };
}

function textIn(body: Buffer): string | undefined {
  try {
    return textOf(body);
  } catch {
    return undefined;
  }
}
