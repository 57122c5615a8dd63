import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { PartsFormat } from '../context.ts';
import type { AnswerParts, OperationResult } from '../operation/operation-result.ts';
import type { RequestContext } from '../operation/operation-run.ts';
import { toError } from '../rest/errors.ts';
import { framed } from './byte-stream.ts';
import { brotliParams, compressionLevel } from './compression.ts';
import { type StreamedAnswer, toMessageStream } from './message-stream.ts';
import { type Coding, negotiateCoding, type StreamType } from './negotiation.ts';
import type { HttpRequestContext } from './request-context.ts';
import { answerHeaders, rateLimitHeaders, toAnswer } from './response.ts';

const boundary = '-';

/**
 * The most answers in parts that are compressed at a time. The encoder of each takes up to 0.7 MiB outside of V8's heap
 * until its last part. Further answers are sent uncompressed.
 */
const mostCompressed = 64;

let compressing = 0;

/** The parameter by which the media type of an answer names the format of its parts, spelled as clients spell it. */
const formats: Readonly<Record<PartsFormat, string>> = {
  'v0.2': '; incrementalSpec=v0.2',
  '20220824': '; deferSpec=20220824',
};

/** The media type of an answer in parts, or of one result as the only part. */
function multipartType(format: PartsFormat | undefined): string {
  return `multipart/mixed; boundary="${boundary}"${format === undefined ? '' : formats[format]}`;
}

/** The lines between the delimiter of a part and its JSON text. */
function partHeaders(text: string): string {
  return `\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
}

/** The HTTP response that streams a result to the client of a request, in the form that the client prefers. */
export function streamedAnswer(
  result: OperationResult,
  { headers: { accept, 'accept-encoding': codings = '' } }: IncomingMessage,
  context: Pick<HttpRequestContext, 'accepted' | 'onClose'>,
  compression: boolean,
): StreamedAnswer {
  const { stream: type = 'text/event-stream', messages = type, parts } = context.accepted;
  if (result.stream !== undefined) return toMessageStream(result.stream, messages, accept);
  if (result.parts === undefined) return toStream(result, type, parts);
  return toParts(result, result.parts, compression ? negotiateCoding(codings) : undefined, context);
}

/** The HTTP response that streams one result. Clients must not keep it, even if its document was named by an id. */
function toStream(
  { maxAge: _maxAge, ...result }: OperationResult,
  type: StreamType,
  format: PartsFormat | undefined,
): StreamedAnswer {
  // The result gets the same status as a single JSON document, in the media type that resembles the stream's most.
  const like = type === 'multipart/mixed' ? 'application/graphql-response+json' : 'application/json';
  const { status, headers, body } = toAnswer(result, like);
  if (type === 'multipart/mixed') {
    // https://github.com/graphql/graphql-over-http/blob/main/rfcs/IncrementalDelivery.md
    const pieces = framed(delimiter + partHeaders(body), body, delimiter + end);
    return { status, headers: { ...headers, 'content-type': multipartType(format) }, pieces };
  }
  // The distinct connections mode of https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md. The
  // first bytes are a comment, because some browsers do not process the headers before the first bytes.
  const pieces = framed(':\n\nevent: next\ndata: ', body, '\n\nevent: complete\ndata:\n\n');
  return { status, headers: { ...headers, 'content-type': type }, pieces };
}

/**
 * The HTTP response of an answer in parts. Each part is sent as soon as it is ready, in the coding that the client
 * prefers.
 */
function toParts(
  { rateLimits = [] }: OperationResult,
  { texts, format }: AnswerParts,
  coding: Coding | undefined,
  context: Pick<RequestContext, 'onClose'>,
): StreamedAnswer {
  const headers: Record<string, string> = {
    ...answerHeaders,
    'content-type': multipartType(format),
    'x-accel-buffering': 'no',
    ...rateLimitHeaders(rateLimits),
  };
  const frames = inFrames(texts);
  if (coding === undefined || compressing >= mostCompressed) return { status: 200, headers, pieces: frames };
  compressing += 1;
  context.onClose(() => {
    compressing -= 1;
  });
  headers['content-encoding'] = coding;
  return { status: 200, headers, pieces: compressed(frames, coding, context) };
}

/** The delimiter before each part, and behind the last one. */
const delimiter = `\r\n--${boundary}`;
const end = '--\r\n';

/**
 * The body of a multipart message, in pieces that a client can read at once. Each part is sent with the delimiter
 * behind it, because only that tells a client that the part is complete (RFC 2046 §5.1.1).
 */
async function* inFrames(texts: ReadableStream<string>): AsyncGenerator<Uint8Array> {
  // While the client reads the bytes of a text, only the bytes are kept. An iterator of the stream would also keep the
  // text until the next one is asked for.
  const reader = texts.getReader();
  try {
    for (let before = delimiter; ; before = '') {
      const frame = await reader.read().then(({ value }) => frameOf(value, before));
      if (frame === undefined) break;
      yield* frame;
    }
    yield Buffer.from(end);
  } finally {
    await reader.cancel();
  }
}

function frameOf(text: string | undefined, before: string): Iterable<Uint8Array> | undefined {
  return text === undefined ? undefined : framed(before + partHeaders(text), text, delimiter);
}

/** Compresses all pieces as one stream. Each piece is flushed, so that it can be read before the next one is ready. */
async function* compressed(
  frames: AsyncIterable<Uint8Array>,
  coding: Coding,
  request: Pick<RequestContext, 'onClose'>,
): AsyncGenerator<Uint8Array> {
  const encoder =
    coding === 'gzip' ? createGzip({ level: compressionLevel }) : createBrotliCompress({ params: brotliParams });
  const chunks: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
  const taken = (): Buffer => Buffer.concat(chunks.splice(0));
  const failed = once(encoder, 'error').then(([error]) => Promise.reject(toError(error)));
  failed.catch(() => undefined);
  request.onClose(() => encoder.destroy());
  for await (const frame of frames) {
    encoder.write(frame);
    await Promise.race([failed, new Promise<void>((resolve) => encoder.flush(flushModes[coding], resolve))]);
    yield taken();
  }
  // All pieces have been compressed and read. The bytes that end the compressed stream come last.
  encoder.end();
  // If the client leaves now, the encoder is destroyed and never finishes.
  await Promise.race([failed, finished(encoder).catch(() => undefined)]);
  yield taken();
}

/** The flush after which everything that was written can be read. */
const flushModes: Readonly<Record<Coding, number>> = {
  gzip: constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
};
