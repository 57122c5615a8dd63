import type { PartsFormat } from '../context.ts';
import type { OperationResult } from '../operation/result.ts';
import type { MediaType, StreamType } from './negotiation.ts';
import { type HttpAnswer, toAnswer } from './response.ts';

/** How results are written one after the other. */
interface StreamForm {
  /** The media type of single documents whose rules for the status it follows. */
  readonly like: MediaType;
  /** The stream of one result, whose JSON text is given. */
  readonly write: (text: string) => string;
}

/** What stands between the parts of a multipart answer, behind two hyphens. */
export const boundary = '-';

const forms: Readonly<Record<StreamType, StreamForm>> = {
  // Distinct connections mode of https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md; some
  // browsers do not take the headers before the first bytes, so a comment comes first.
  'text/event-stream': {
    like: 'application/json',
    write: (text) => `:\n\nevent: next\ndata: ${text}\n\nevent: complete\ndata:\n\n`,
  },
  // https://github.com/graphql/graphql-over-http/blob/main/rfcs/IncrementalDelivery.md
  'multipart/mixed': {
    like: 'application/graphql-response+json',
    write: (text) => `\r\n--${boundary}\r\n${partHeaders(text)}\r\n\r\n${text}\r\n--${boundary}--\r\n`,
  },
};

/** What the media type of an answer says of its format, as clients name it. */
const formats: Readonly<Record<PartsFormat, string>> = {
  'v0.2': '; incrementalSpec=v0.2',
  '20220824': '; deferSpec=20220824',
};

/** The media type of an answer in parts, or of one result as the only part. */
export function multipartType(format: PartsFormat | undefined): string {
  return `multipart/mixed; boundary="${boundary}"${format === undefined ? '' : formats[format]}`;
}

/** The header lines of a part whose JSON text is given. */
export function partHeaders(text: string): string {
  return `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}`;
}

/** The HTTP response that streams one result. It is remembered by no client, whatever names its document. */
export function toStream(
  { maxAge: _maxAge, ...result }: OperationResult,
  type: StreamType,
  format?: PartsFormat,
): HttpAnswer {
  const { like, write } = forms[type];
  const contentType = type === 'multipart/mixed' ? multipartType(format) : type;
  const { status, headers, body } = toAnswer(result, like);
  return { status, headers: { ...headers, 'content-type': contentType }, body: write(body) };
}
