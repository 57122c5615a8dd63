import { ConnectionError } from './connect.ts';

/** The headers that the gateway reads. */
export type ResponseHeaders = Readonly<Partial<Record<ReadHeader, string>>>;

type ReadHeader = 'content-type' | 'content-encoding' | 'cache-control' | 'retry-after' | 'date' | 'etag';

/** Gets the head of a response, and then its body, piece by piece. Bytes are valid during the call only. */
export interface ResponseSink {
  /** `length` is the size of the body in bytes; undefined if it is not known before the body ends. */
  onHead(status: number, headers: ResponseHeaders, length: number | undefined): void;
  onData(bytes: Buffer): void;
  /** Called once the whole response was read. */
  onEnd(): void;
}

/** The error of bytes that are no HTTP response, or that another server on the way might read in another way. */
export class NotHttp extends Error {
  override readonly name = 'NotHttp';
}

/** The most bytes of a head, of all interim responses before it, and of all trailers. */
const maxHeadBytes = 2 ** 14;

/** The most bytes of a line with the size of a chunk and its extensions. */
const maxChunkLineBytes = 2 ** 10;

const version = 'HTTP/1.';
const endOfHead = '\r\n\r\n';
const lineFeed = 0x0a;

/**
 * A status line and header lines (RFC 9112 §4 and §5), without anything that a server on the way might read in another
 * way: a line that ends without a carriage return, a folded line, a blank before a colon, a control character.
 */
const headForm =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+.^_`|~\dA-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*$/;

const trailerForm = /^[!#$%&'*+.^_`|~\dA-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
const chunkSizeForm = /^([\da-f]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;

type Phase =
  | 'head'
  // A body of known length.
  | 'body'
  | 'chunk-size'
  | 'chunk'
  | 'end-of-chunk'
  | 'trailers'
  // A body that ends with the connection.
  | 'until-close'
  | 'done';

/** Reads the responses of one connection, however their bytes are cut (RFC 9112). Keeps no bodies. */
export class ResponseParser {
  #sink: ResponseSink | undefined;
  #phase: Phase = 'done';
  /** The beginning of a head or of a line whose end has not come yet. */
  #text = '';
  /** The number of bytes of interim responses, or of trailers, so far. */
  #passed = 0;
  /** The number of bytes of the body, or of its chunk, that are still to come. */
  #missing = 0;
  #isPersistent = false;
  #keepAliveSeconds: number | undefined;

  /** True once the whole response was read. */
  get isDone(): boolean {
    return this.#phase === 'done';
  }

  /** True if no byte of the response has come. */
  get isUntouched(): boolean {
    return this.#phase === 'head' && this.#text === '' && this.#passed === 0;
  }

  /** True if the connection may be used again, once the response was read. */
  get isPersistent(): boolean {
    return this.#isPersistent;
  }

  /** The seconds for which the server keeps the idle connection; undefined if it does not tell. */
  get keepAliveSeconds(): number | undefined {
    return this.#keepAliveSeconds;
  }

  expect(sink: ResponseSink): void {
    this.#sink = sink;
    this.#phase = 'head';
    this.#text = '';
    this.#passed = 0;
  }

  /**
   * Returns the number of bytes that belong to the response. Throws NotHttp, or a ConnectionError if the server changes
   * the protocol.
   */
  feed(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#phase !== 'done') {
      if (this.#phase === 'head') at = this.#readHead(bytes, at);
      else if (this.#phase === 'body' || this.#phase === 'chunk') at = this.#readKnown(bytes, at);
      else if (this.#phase === 'until-close') at = this.#readRest(bytes, at);
      else at = this.#readLine(bytes, at);
    }
    return at;
  }

  /** The end of the connection completes a body without a length. */
  end(): void {
    if (this.#phase === 'until-close') this.#complete();
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#text.length;
    const end = before === 0 ? bytes.indexOf(endOfHead, at, 'latin1') : -1;
    if (end !== -1 && end - at <= maxHeadBytes) {
      this.#head(bytes.toString('latin1', at, end));
      return end + endOfHead.length;
    }
    const text = this.#text + bytes.toString('latin1', at, at + maxHeadBytes + endOfHead.length);
    const found = text.indexOf(endOfHead, Math.max(0, before - endOfHead.length + 1));
    if (this.#passed + (found === -1 ? text.length : found) > maxHeadBytes) throw new NotHttp('its head is too long');
    if (found === -1) {
      const isVersion = text.startsWith(version) || version.startsWith(text);
      if (!isVersion) throw new NotHttp('it does not begin with a version');
      this.#text = text;
      return bytes.length;
    }
    this.#text = '';
    this.#head(text.slice(0, found));
    return at + found + endOfHead.length - before;
  }

  #head(text: string): void {
    if (!headForm.test(text)) throw new NotHttp('its head is malformed');
    const status = Number(text.slice(9, 12));
    // The gateway never asks for another protocol.
    if (status === 101) throw new ConnectionError('CONNECTION_CLOSED');
    if (status < 200) {
      this.#passed += text.length + endOfHead.length;
      if (this.#passed > maxHeadBytes) throw new NotHttp('its interim responses are too long');
      return;
    }
    const head = new Head(text);
    const { length, isChunked } = head;
    if (isChunked && length !== undefined) throw new NotHttp('it has two lengths');
    const hasBody = status !== 204 && status !== 304;
    // A server that announces a body with a 204 may send it, and it would be read as the next response.
    this.#isPersistent = head.isPersistent && (status !== 204 || (!isChunked && (length ?? 0) === 0));
    this.#keepAliveSeconds = head.keepAliveSeconds;
    this.#passed = 0;
    this.#missing = length ?? 0;
    this.#sink?.onHead(status, head.headers, hasBody ? length : 0);
    if (!hasBody || length === 0) this.#complete();
    else if (isChunked) this.#phase = 'chunk-size';
    else if (length !== undefined) this.#phase = 'body';
    else {
      this.#phase = 'until-close';
      this.#isPersistent = false;
    }
  }

  #readKnown(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#missing, bytes.length);
    this.#missing -= end - at;
    this.#sink?.onData(bytes.subarray(at, end));
    if (this.#missing > 0) return end;
    if (this.#phase === 'body') this.#complete();
    else this.#phase = 'end-of-chunk';
    return end;
  }

  #readRest(bytes: Buffer, at: number): number {
    this.#sink?.onData(bytes.subarray(at));
    return bytes.length;
  }

  #readLine(bytes: Buffer, at: number): number {
    const most = this.#phase === 'trailers' ? maxHeadBytes : maxChunkLineBytes;
    const end = bytes.indexOf(lineFeed, at);
    const next = end === -1 ? bytes.length : end + 1;
    if (this.#text.length + next - at > most) throw new NotHttp('a line of its body is too long');
    const text = this.#text + bytes.toString('latin1', at, next);
    if (end === -1) {
      this.#text = text;
      return next;
    }
    this.#text = '';
    if (!text.endsWith('\r\n')) throw new NotHttp('a line of its body is malformed');
    this.#line(text.slice(0, -2));
    return next;
  }

  #line(text: string): void {
    if (this.#phase === 'chunk-size') {
      const [, size] = chunkSizeForm.exec(text) ?? [];
      if (size === undefined) throw new NotHttp('the size of a chunk is malformed');
      this.#missing = Number.parseInt(size, 16);
      this.#phase = this.#missing === 0 ? 'trailers' : 'chunk';
    } else if (this.#phase === 'end-of-chunk') {
      if (text !== '') throw new NotHttp('a chunk is longer than its size');
      this.#phase = 'chunk-size';
    } else if (text === '') this.#complete();
    else {
      this.#passed += text.length + 2;
      if (!trailerForm.test(text) || this.#passed > maxHeadBytes) throw new NotHttp('its trailers are malformed');
    }
  }

  #complete(): void {
    this.#phase = 'done';
    this.#sink?.onEnd();
  }
}

/** The facts in a well-formed head. */
class Head {
  readonly headers: Partial<Record<ReadHeader, string>> = {};
  length: number | undefined;
  isChunked = false;
  readonly #isCurrent: boolean;
  #isKept = false;
  #isClosed = false;
  keepAliveSeconds: number | undefined;

  constructor(text: string) {
    this.#isCurrent = text.startsWith('1', version.length);
    let line = text.indexOf('\r\n');
    while (line !== -1) {
      const colon = text.indexOf(':', line);
      const next = text.indexOf('\r\n', colon);
      const name = text.slice(line + 2, colon).toLowerCase();
      this.#add(name, text, colon + 1, next === -1 ? text.length : next);
      line = next;
    }
  }

  /**
   * True if the connection may be used again (RFC 9112 §6.1 and §9.3). An HTTP/1.0 server closes it unless it
   * promises to keep it. After a chunked body, such a promise does not count, because an HTTP/1.0 proxy on the way may
   * not find the end of the body.
   */
  get isPersistent(): boolean {
    return !this.#isClosed && (this.#isCurrent || (this.#isKept && !this.isChunked));
  }

  #add(name: string, text: string, from: number, to: number): void {
    const { headers } = this;
    // With a variable in place of each name, V8 takes ten times as long to store a value.
    switch (name) {
      case 'content-type':
        headers['content-type'] ??= text.slice(from, to).trim();
        return;
      case 'retry-after':
        headers['retry-after'] ??= text.slice(from, to).trim();
        return;
      case 'date':
        headers.date ??= text.slice(from, to).trim();
        return;
      case 'etag':
        headers.etag ??= text.slice(from, to).trim();
        return;
      // Repeated values of the next two headers are joined. Of the headers above, the first value counts.
      case 'content-encoding':
        headers['content-encoding'] = joined(headers['content-encoding'], text.slice(from, to).trim());
        return;
      case 'cache-control':
        headers['cache-control'] = joined(headers['cache-control'], text.slice(from, to).trim());
        return;
      case 'content-length':
        this.#addLength(text.slice(from, to).trim());
        return;
      case 'transfer-encoding':
        if (this.isChunked || text.slice(from, to).trim().toLowerCase() !== 'chunked')
          throw new NotHttp('its transfer coding is not chunked');
        this.isChunked = true;
        return;
      case 'connection':
        this.#addOptions(text.slice(from, to).toLowerCase());
        return;
      case 'keep-alive':
        this.keepAliveSeconds = Number(/\btimeout *= *"?(\d{1,9})/i.exec(text.slice(from, to))?.[1] ?? Number.NaN);
        if (Number.isNaN(this.keepAliveSeconds)) this.keepAliveSeconds = undefined;
    }
  }

  #addLength(value: string): void {
    if (this.length !== undefined || !/^\d{1,15}$/.test(value)) throw new NotHttp('its length is malformed');
    this.length = Number(value);
  }

  #addOptions(value: string): void {
    for (const option of value.split(',')) {
      if (option.trim() === 'close') this.#isClosed = true;
      else if (option.trim() === 'keep-alive') this.#isKept = true;
    }
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}
