import type { OperationResult } from '../operation/result.ts';
import type { MediaType, StreamType } from './negotiation.ts';
import { type HttpAnswer, toAnswer } from './response.ts';

/** How results are written one after the other. */
interface StreamForm {
  readonly contentType: string;
  /** The media type of single documents whose rules for the status it follows. */
  readonly like: MediaType;
  /** The stream of one result, whose JSON text is given. */
  readonly write: (text: string) => string;
}

const forms: Readonly<Record<StreamType, StreamForm>> = {
  // Distinct connections mode of https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md; some
  // browsers do not take the headers before the first bytes, so a comment comes first.
  'text/event-stream': {
    contentType: 'text/event-stream',
    like: 'application/json',
    write: (text) => `:\n\nevent: next\ndata: ${text}\n\nevent: complete\ndata:\n\n`,
  },
  // https://github.com/graphql/graphql-over-http/blob/main/rfcs/IncrementalDelivery.md
  'multipart/mixed': {
    contentType: 'multipart/mixed; boundary="-"',
    like: 'application/graphql-response+json',
    write: (text) => `\r\n---\r\n${partHeaders(text)}\r\n\r\n${text}\r\n-----\r\n`,
  },
};

function partHeaders(text: string): string {
  return `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}`;
}

/** The HTTP response that streams one result. It is remembered by no client, whatever names its document. */
export function toStream({ maxAge: _maxAge, ...result }: OperationResult, type: StreamType): HttpAnswer {
  const { contentType, like, write } = forms[type];
  const { status, headers, body } = toAnswer(result, like);
  return { status, headers: { ...headers, 'content-type': contentType }, body: write(body) };
}
