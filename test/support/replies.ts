import type { ServerResponse } from 'node:http';

/** A value that `JSON.stringify` writes out whole. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON value with members. */
export interface JsonObject {
  readonly [name: string]: Json;
}

/** The parts of a response, for `reply`. */
export interface ReplyOptions {
  readonly status?: number;
  /** Added to `content-type: application/json`, which is set if there is a body; undefined takes a header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Strings and buffers are sent as they are, everything else as JSON; nothing if it is left out. */
  readonly body?: Json | Buffer;
}

/** Writes an answer, or fails to. */
export class Reply {
  readonly write: (response: ServerResponse) => void;

  constructor(write: (response: ServerResponse) => void) {
    this.write = write;
  }
}

/** A complete HTTP response. */
export function reply({ status = 200, headers = {}, body }: ReplyOptions): Reply {
  return new Reply((response) => {
    const all: Record<string, string | undefined> = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    response.statusCode = status;
    for (const [name, value] of Object.entries(all)) if (value !== undefined) response.setHeader(name, value);
    response.end(
      typeof body === 'string' || body instanceof Buffer || body === undefined ? body : JSON.stringify(body),
    );
  });
}

/** The body of an error of the API, whatever its status is. */
export function apiError(code: string, detail = 'No.', type = 'invalid_request'): JsonObject {
  return { type, code, detail, attr: null };
}

/** An answer in the error format of the API; `attr` is the field at fault. */
export function refusal(status: number, code: string, detail: string, attr: string | null = null): Reply {
  const types: Record<number, string> = {
    400: 'validation_error',
    401: 'authentication_error',
    404: 'invalid_request',
  };
  return reply({ status, body: { ...apiError(code, detail, types[status] ?? 'server_error'), attr } });
}

/** The API's answer for anything that does not exist. */
export const notFound = refusal(404, 'not_found', 'Not found.');

/** Any other behaviour: `write` has the response, and by it the socket. */
export function raw(write: (response: ServerResponse) => void): Reply {
  return new Reply(write);
}

/** Never answers. */
export const hang = raw(() => undefined);

/** Closes the connection without a byte. */
export const disconnect = raw((response) => response.socket?.destroy());

/** Sends bytes that need not be HTTP, then closes the connection. */
export function bytes(text: string): Reply {
  return raw((response) => response.socket?.end(text));
}

/** Announces the whole body, sends half of it, then closes the connection. */
export function truncated(body: string): Reply {
  return raw((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.write(body.slice(0, body.length / 2), () => response.socket?.destroy());
  });
}

/** Sends a JSON body byte by byte, one every `delay` milliseconds. */
export function drip(body: string, delay: number): Reply {
  return raw((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const content = Buffer.from(body);
    let sent = 0;
    const timer = setInterval(() => {
      if (sent === content.length) response.end();
      else response.write(content.subarray(sent, (sent += 1)));
    }, delay);
    response.on('close', () => clearInterval(timer));
  });
}
