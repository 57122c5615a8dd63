import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Coding, negotiateCoding } from './negotiation.ts';
import type { HttpAnswer } from './response.ts';

/** Answers up to this many bytes travel in one packet either way. */
const smallest = 1024;

/** Smaller than this a window would cost compression, larger ones cost memory for each answer under way. */
const brotliWindow = 18;

/** A tenth larger than the best, in a tenth of its time. */
export const effort = 4;

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/** The coding of an answer of so many bytes for a client that sent this `Accept-Encoding`; undefined: as it is. */
export function codingOf(accepted: string, bytes: number): Coding | undefined {
  return bytes <= smallest ? undefined : negotiateCoding(accepted);
}

/** An answer whose body may be bytes. */
export interface Complete extends Omit<HttpAnswer, 'body'> {
  readonly body: string | Buffer<ArrayBuffer>;
}

/**
 * The answer in the coding that its client likes most; undefined if it goes as it is, which is decided at once. The
 * work is done beside the event loop, and nothing of it is kept for another answer.
 */
export function compressed({ headers }: IncomingMessage, answer: Complete): Promise<Complete> | undefined {
  const coding = codingFor(headers['accept-encoding'], answer);
  return coding === undefined ? undefined : inCoding(answer, coding);
}

/** Chooses among the codings of one answer by a client's `Accept-Encoding`. */
export type Variants = (accepted: string | undefined) => Promise<Complete> | Complete;

/** An answer that never changes, compressed once for each coding, when a client first asks for it. */
export function compressedOnce(answer: Complete): Variants {
  const variants = new Map<Coding, Promise<Complete>>();
  return (accepted) => {
    const coding = codingFor(accepted, answer);
    if (coding === undefined) return answer;
    const variant = variants.get(coding) ?? inCoding(answer, coding);
    variants.set(coding, variant);
    return variant;
  };
}

function codingFor(accepted: string | undefined, { body }: Complete): Coding | undefined {
  // Most programs do not ask for a coding, and cost nothing more.
  return accepted === undefined ? undefined : codingOf(accepted, Buffer.byteLength(body));
}

function inCoding(answer: Complete, coding: Coding): Promise<Complete> {
  return encode(answer.body, coding).then(
    (body) => ({ ...answer, headers: { ...answer.headers, 'content-encoding': coding }, body }),
    // No memory for it: the answer as it is needs none.
    () => answer,
  );
}

function encode(body: string | Buffer, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  if (coding === 'gzip') return deflate(body, { level: effort });
  return brotli(body, { params: brotliParams });
}

/** How brotli is used for answers. */
export const brotliParams = {
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: effort,
  [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
};
