import type { PartsFormat } from '../context.ts';
import type { OperationResult } from '../operation/result.ts';
import { framed } from './byte-stream.ts';
import type { MediaType, StreamType } from './negotiation.ts';
import { type HttpAnswer, toAnswer } from './response.ts';

/** The form in which one result is written as a stream. */
interface StreamForm {
  /** The media type of single documents whose rules for the status apply. */
  readonly like: MediaType;
  /** Writes the stream of one result from its JSON text. */
  readonly write: (text: string) => Iterable<Uint8Array>;
}

/** The boundary of a multipart answer. */
export const boundary = '-';

const forms: Readonly<Record<StreamType, StreamForm>> = {
  // The distinct connections mode of https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md. The
  // first bytes are a comment, because some browsers do not process the headers before the first bytes.
  'text/event-stream': {
    like: 'application/json',
    write: (text) => framed(':\n\nevent: next\ndata: ', text, '\n\nevent: complete\ndata:\n\n'),
  },
  // https://github.com/graphql/graphql-over-http/blob/main/rfcs/IncrementalDelivery.md
  'multipart/mixed': {
    like: 'application/graphql-response+json',
    write: (text) => framed(`\r\n--${boundary}\r\n${partHeaders(text)}\r\n\r\n`, text, `\r\n--${boundary}--\r\n`),
  },
};

/** The parameter of the media type that names the format of the parts, as clients spell it. */
const formats: Readonly<Record<PartsFormat, string>> = {
  'v0.2': '; incrementalSpec=v0.2',
  '20220824': '; deferSpec=20220824',
};

/** The media type of an answer in parts, or of one result as the only part. */
export function multipartType(format: PartsFormat | undefined): string {
  return `multipart/mixed; boundary="${boundary}"${format === undefined ? '' : formats[format]}`;
}

/** The header lines of a part with this JSON text. */
export function partHeaders(text: string): string {
  return `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}`;
}

/** The HTTP response that streams one result. Clients must not keep it, even if its document was named by an id. */
export function toStream(
  { maxAge: _maxAge, ...result }: OperationResult,
  type: StreamType,
  format?: PartsFormat,
): Omit<HttpAnswer, 'body'> & { readonly slices: Iterable<Uint8Array> } {
  const { like, write } = forms[type];
  const contentType = type === 'multipart/mixed' ? multipartType(format) : type;
  const { status, headers, body } = toAnswer(result, like);
  return { status, headers: { ...headers, 'content-type': contentType }, slices: write(body) };
}
