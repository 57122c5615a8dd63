import { UpstreamError } from '../errors.ts';
import { fromTransport, toUpstreamError } from '../failures.ts';
import { decodeBody, textOf } from './decode.ts';
import { type Abort, type Answer, type Call, type Transport, TransportError } from './transport.ts';

/** What became of a call: its HTTP status and its decoded body, empty where there was none. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/**
 * What hears how something ended: a reply, or why there is none. A call back and not a promise, because each promise on
 * the way of every call costs more than what happens in it.
 */
export interface Outcome {
  readonly succeed: (reply: Reply) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Sends a call once. Fails with an UpstreamError for every status but 2xx, with a TransportError without a response;
 * never before this has returned.
 */
export function exchange(transport: Transport, call: Call, key: string, maxBodyBytes: number, outcome: Outcome): Abort {
  return transport.send(call, (error, answer) => {
    if (answer === undefined) outcome.fail(error ?? new TransportError('network'));
    else readAnswer(answer, key, maxBodyBytes, outcome);
  });
}

/** A failure as the domain error that resolvers may see. */
export function toDomainError(error: unknown): unknown {
  return error instanceof TransportError ? fromTransport(error) : error;
}

function readAnswer(answer: Answer, key: string, maxBodyBytes: number, outcome: Outcome): void {
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

/** Whatever is thrown on the way to a reply is how the call failed: undici would swallow it, and nobody be answered. */
function settle(answer: Answer, text: string | undefined, key: string, outcome: Outcome): void {
  let reply: Reply;
  answer.release();
  try {
    reply = replyOf(answer, text, key);
  } catch (error) {
    return outcome.fail(error);
  }
  outcome.succeed(reply);
}

/** `text` is undefined where the body could not be decoded. */
function replyOf({ status, headers }: Answer, text: string | undefined, key: string): Reply {
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
