import type { IncomingHttpHeaders } from 'node:http';

/** A media type that a client may take its answer in. */
export type Accepted =
  | 'application/json'
  | 'application/graphql-response+json'
  | 'text/event-stream'
  | 'multipart/mixed';

/** The stream of one result, by the media type of the whole. */
const streams: Readonly<Record<string, RegExp>> = {
  'text/event-stream': /^:\n\nevent: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/s,
  'multipart/mixed; boundary="-"':
    /^\r\n---\r\nContent-Type: application\/json; charset=utf-8\r\nContent-Length: \d+\r\n\r\n(.*)\r\n-----\r\n$/s,
};

/** The one result in an answer, as its JSON text. Throws for a stream that is not written as its media type says. */
export function resultIn(headers: IncomingHttpHeaders, body: string): string {
  const stream = streams[headers['content-type'] ?? ''];
  if (stream === undefined) return body;
  const result = stream.exec(body)?.[1];
  if (result === undefined) throw new Error(`expected one result as ${headers['content-type']}, but got ${body}`);
  return result;
}
