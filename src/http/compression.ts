import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Coding, negotiateCoding } from './negotiation.ts';
import type { HttpAnswer } from './response.ts';

/** The largest answer that is never compressed, in bytes: it fits into one packet. */
const threshold = 1024;

/** The window of brotli. A smaller window would compress worse, a larger one would take more memory for each answer. */
const brotliWindow = 18;

/** The compression level. The output is a tenth larger than at the best level, and is made in a tenth of the time. */
export const compressionLevel = 4;

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/** An answer whose body may be bytes. */
export interface CompleteAnswer extends Omit<HttpAnswer, 'body'> {
  readonly body: string | Buffer<ArrayBuffer>;
}

/** The coding for an answer and a client with this `Accept-Encoding`; undefined if the answer is not compressed. */
export function codingFor(accepted: string | undefined, { body }: Pick<CompleteAnswer, 'body'>): Coding | undefined {
  return accepted === undefined || Buffer.byteLength(body) <= threshold ? undefined : negotiateCoding(accepted);
}

/** Returns an answer in the coding that suits a client's `Accept-Encoding`. */
export type SelectVariant = (accepted: string | undefined) => Promise<CompleteAnswer> | CompleteAnswer;

/**
 * Serves an answer that never changes. It is compressed once for each coding, when a client first asks for that coding.
 */
export function compressedOnce(answer: CompleteAnswer): SelectVariant {
  const variants = new Map<Coding, Promise<CompleteAnswer>>();
  return (accepted) => {
    const coding = codingFor(accepted, answer);
    if (coding === undefined) return answer;
    const variant = variants.get(coding) ?? inCoding(answer, coding);
    variants.set(coding, variant);
    return variant;
  };
}

/** Compresses an answer outside the event loop. */
export function inCoding(answer: CompleteAnswer, coding: Coding): Promise<CompleteAnswer> {
  return encode(answer.body, coding).then(
    (body) => ({ ...answer, headers: { ...answer.headers, 'content-encoding': coding }, body }),
    // If there is no memory for compression, the answer is sent uncompressed.
    () => answer,
  );
}

function encode(body: string | Buffer, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  if (coding === 'gzip') return deflate(body, { level: compressionLevel });
  return brotli(body, { params: brotliParams });
}

/** The parameters of brotli for answers. */
export const brotliParams = {
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: compressionLevel,
  [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
};
