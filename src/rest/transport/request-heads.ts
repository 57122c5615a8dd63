/** One HTTP request. `target` is path and query, sent byte for byte. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** True for a write. Its response shows the effect, so it is read even if there is no memory for it. */
  readonly isWrite?: boolean;
  /** True if the request needs a new connection, which is not used again. */
  readonly needsNewConnection?: boolean;
}

/** Latin-1 in which tabs are the only control characters. */
const isValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Latin-1 without control characters and blanks. */
const isTarget = /^[\x21-\x7e\x80-\xff]+$/;

/** Writes the heads of requests by one route (RFC 9112 §3). */
export class RequestHeads {
  /** The text before the target of each request: the origin for a proxy without a tunnel, otherwise empty. */
  readonly #prefix: string;
  /** The lines that each head begins with. */
  readonly #firstLines: string;
  /** The latest headers, and all lines before `connection`. Most calls of a caller share one object of headers. */
  #headers: HttpRequest['headers'] | undefined;
  #lines = '';

  constructor(prefix: string, firstLines: string) {
    this.#prefix = prefix;
    this.#firstLines = firstLines;
  }

  /**
   * The request line, the headers and the empty line after them, in Latin-1. Throws for a target or a header that
   * cannot be sent.
   */
  of({ method, target, headers, body, needsNewConnection = false }: HttpRequest): string {
    if (!isTarget.test(target)) throw new TypeError('expected a target without blanks and control characters');
    if (headers !== this.#headers) {
      this.#lines = this.#firstLines + linesOf(headers);
      this.#headers = headers;
    }
    const hasLength = body !== undefined || method === 'POST' || method === 'PATCH';
    const length = hasLength ? `content-length: ${Buffer.byteLength(body ?? '')}\r\n` : '';
    const connection = needsNewConnection ? 'close' : 'keep-alive';
    const line = `${method} ${this.#prefix}${target} HTTP/1.1\r\n`;
    return `${line}${this.#lines}connection: ${connection}\r\n${length}\r\n`;
  }
}

function linesOf(headers: HttpRequest['headers']): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (!isValue.test(value)) throw new TypeError(`expected a ${name} without control characters`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
