import { decodeBody, textOf } from './decode.ts';
import { UpstreamError } from './errors.ts';
import { fromTransport, toUpstreamError } from './failures.ts';
import { type Abort, type Answer, type Call, type Transport, TransportError } from './transport.ts';

/** What became of a call: its HTTP status and its decoded body, empty where there was none. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** A call on the wire. */
export interface Exchange {
  readonly reply: Promise<Reply>;
  readonly abort: Abort;
}

/** Sends a call once. Fails with an UpstreamError for every status but 2xx, with a TransportError without a response. */
export function exchange(transport: Transport, call: Call, key: string, maxBodyBytes: number): Exchange {
  let abort: Abort = () => undefined;
  const reply = new Promise<Reply>((resolve, reject) => {
    abort = transport.send(call, (error, answer) => {
      if (answer === undefined) reject(error ?? new TransportError('network'));
      else settle(answer, key, maxBodyBytes).then(resolve, reject);
    });
  });
  return { reply, abort };
}

/** A failure as the domain error that resolvers may see. */
export function toDomainError(error: unknown): unknown {
  return error instanceof TransportError ? fromTransport(error) : error;
}

async function settle(answer: Answer, key: string, maxBodyBytes: number): Promise<Reply> {
  const text = await textOfAnswer(answer, maxBodyBytes);
  const { status, headers } = answer;
  if (status < 200 || status > 299) throw toUpstreamError(status, headers, text ?? '', key);
  if (text === undefined) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return { status, contentType: headers['content-type'] ?? '', text };
}

/** The decoded body; undefined where it cannot be decoded. */
async function textOfAnswer({ headers, body }: Answer, maxBodyBytes: number): Promise<string | undefined> {
  const coding = headers['content-encoding'];
  try {
    return coding === undefined || body.length === 0 ? textOf(body) : await decodeBody(body, coding, maxBodyBytes);
  } catch {
    return undefined;
  }
}
