import { randomUUID } from 'node:crypto';

/** The id that a client or a proxy gave a request, where it is a harmless word; else a new one. */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && /^[\w.:-]{1,100}$/.test(header) ? header : randomUUID();
}
