import { decodeBody, textOf } from './decode.ts';
import { UpstreamError } from './errors.ts';
import { fromTransport, toUpstreamError } from './failures.ts';
import type { Flight } from './flights.ts';
import { retryOf } from './retry.ts';
import { type Answer, type Call, type Transport, TransportError } from './transport.ts';

/** What became of a call: its HTTP status and its decoded body, empty where there was none. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** A call under way. */
export interface Sending {
  readonly result: Promise<Reply>;
  readonly cancel: () => void;
}

/** Sends a call once. Fails with an UpstreamError for every status but 2xx, with a TransportError without a response. */
export function sendOnce(transport: Transport, call: Call, key: string, maxBodyBytes: number): Sending {
  let cancel = (): void => undefined;
  const result = new Promise<Reply>((resolve, reject) => {
    cancel = transport.send(call, (error, answer) => {
      if (answer === undefined) reject(error ?? new TransportError('network'));
      else settle(answer, key, maxBodyBytes).then(resolve, reject);
    });
  });
  return { result, cancel };
}

/** Sends a read, and once more where its failure allows it and its passengers still wait by then. */
export function sendRead(transport: Transport, call: Call, key: string, maxBodyBytes: number, flight: Flight): Sending {
  let current: Sending | undefined;
  let cancelled = false;
  let wake = (): void => undefined;
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const attempt = async (free: boolean, once: boolean): Promise<Reply> => {
    if (cancelled) throw new TransportError('aborted');
    current = sendOnce(transport, call, key, maxBodyBytes);
    try {
      return await current.result;
    } catch (error) {
      const retry = retryOf(error);
      if (retry.kind === 'free' && free) return attempt(false, once);
      const delayMs = retry.kind === 'once' ? retry.delayMs : 0;
      if (retry.kind === 'never' || !once || performance.now() + delayMs >= flight.lastsUntil) throw error;
      await pause(delayMs);
      return attempt(free, false);
    }
  };
  const cancel = (): void => {
    cancelled = true;
    current?.cancel();
    wake();
  };
  return { result: attempt(true, true), cancel };
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
