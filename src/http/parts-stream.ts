import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { RequestContext } from '../operation/operation-run.ts';
import type { AnswerParts } from '../operation/result.ts';
import { toError } from '../rest/errors.ts';
import { framed, toByteStream } from './byte-stream.ts';
import { brotliParams, effort } from './compression.ts';
import type { Coding } from './negotiation.ts';
import { answerHeaders } from './response.ts';
import { boundary, multipartType, partHeaders } from './result-stream.ts';

/** An HTTP response that is written part by part. */
export interface PartsAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: ReadableStream<Uint8Array>;
}

/** The parts of an answer as they become ready. */
interface StreamedParts extends Pick<AnswerParts, 'format'> {
  readonly texts: AsyncIterable<string>;
}

/**
 * The HTTP response of an answer in parts. Each part is sent as soon as it is ready, in the coding that the client
 * prefers.
 */
export function partsStream(
  { format, texts }: StreamedParts,
  coding: Coding | undefined,
  request: Pick<RequestContext, 'onClose'>,
): PartsAnswer {
  const headers: Record<string, string> = {
    ...answerHeaders,
    'content-type': multipartType(format),
    'x-accel-buffering': 'no',
  };
  if (coding !== undefined) headers['content-encoding'] = coding;
  const frames = inFrames(texts);
  const bytes = coding === undefined ? frames : compressed(frames, coding, request);
  return { status: 200, headers, body: toByteStream(bytes) };
}

/**
 * The body of a multipart message, in pieces that a client can read at once. Each part is sent with the delimiter behind
 * it, because only that tells a client that the part is complete (RFC 2046 §5.1.1).
 */
async function* inFrames(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let before = `\r\n--${boundary}`;
  for await (const text of texts) {
    yield* framed(`${before}\r\n${partHeaders(text)}\r\n\r\n`, text, `\r\n--${boundary}`);
    before = '';
  }
  yield Buffer.from('--\r\n');
}

/** Compresses all pieces as one stream. Each piece is flushed, so that it can be read before the next one is ready. */
async function* compressed(
  frames: AsyncIterable<Uint8Array>,
  coding: Coding,
  request: Pick<RequestContext, 'onClose'>,
): AsyncGenerator<Uint8Array> {
  const encoder = coding === 'gzip' ? createGzip({ level: effort }) : createBrotliCompress({ params: brotliParams });
  const chunks: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
  const taken = (): Buffer => Buffer.concat(chunks.splice(0));
  const failed = once(encoder, 'error').then(([error]) => Promise.reject(toError(error)));
  failed.catch(() => undefined);
  request.onClose(() => encoder.destroy());
  for await (const frame of frames) {
    encoder.write(frame);
    await Promise.race([failed, new Promise<void>((resolve) => encoder.flush(kinds[coding], resolve))]);
    yield taken();
  }
  // All input has been written, but not all output has been read: the end of the coding comes last.
  encoder.end();
  // If the client leaves now, the encoder is destroyed and never finishes.
  await Promise.race([failed, finished(encoder).catch(() => undefined)]);
  yield taken();
}

/** The flush after which everything that was written can be read. */
const kinds: Readonly<Record<Coding, number>> = {
  gzip: constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
};
