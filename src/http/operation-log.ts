import { randomUUID } from 'node:crypto';

/** What is told about an operation once it is answered. */
export interface OperationReport {
  readonly requestId: string;
  /** The id of a listed document. */
  readonly document: string | undefined;
  /** As the document says it, else as the request does; cut where it is very long. */
  readonly operationName: string | undefined;
  readonly durationMs: number;
  /** REST calls that it made. */
  readonly calls: number;
  /** The codes of its errors, each once; `CLIENT_LEFT` alone where nobody waited for them. */
  readonly codes: readonly string[];
  /** The first characters of the hash of the caller's key; undefined without a key. */
  readonly caller: string | undefined;
}

/** Hears of every operation when it is answered. */
export type OnOperation = (report: OperationReport) => void;

/** Characters of a caller's hash that tell callers apart in a log without naming them. */
export const shownHash = 8;

/** Longest name of an operation that is told anywhere: it is a client's text. */
export const longestName = 100;

/** The id that a client or a proxy gave a request, where it is a harmless word; else a new one. */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && /^[\w.:-]{1,100}$/.test(header) ? header : randomUUID();
}
