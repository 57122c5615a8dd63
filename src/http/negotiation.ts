/** The media types in which a result is answered (GraphQL over HTTP §4.1). */
export type MediaType = 'application/json' | 'application/graphql-response+json';

const mediaTypes: readonly MediaType[] = ['application/json', 'application/graphql-response+json'];

/** What clients like best by their `Accept`: a gateway meets the same few. */
const remembered = new Map<string, MediaType>();
const mostRemembered = 100;
const longestRemembered = 200;

/** The media type that a client likes best, of equal ones that which it names first; undefined where it takes neither. */
export function negotiate(accept: string | undefined): MediaType | undefined {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*')
    return 'application/json';
  const known = remembered.get(accept);
  if (known !== undefined) return known;
  const best = bestOf(accept);
  if (best === undefined || accept.length > longestRemembered) return best;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(accept, best);
  return best;
}

function bestOf(accept: string): MediaType | undefined {
  const ranges = accept.toLowerCase().split(',').map(rangeOf);
  let best: Range & { readonly mediaType?: MediaType } = { name: '', quality: 0, place: 0 };
  for (const mediaType of mediaTypes) {
    const range = rangeFor(mediaType, ranges);
    if (range === undefined || range.quality < best.quality || range.quality === 0) continue;
    if (range.quality > best.quality || range.place < best.place) best = { ...range, mediaType };
  }
  return best.mediaType;
}

/** One item of an `Accept` header (RFC 9110 §12.5.1). */
interface Range {
  readonly name: string;
  readonly quality: number;
  readonly place: number;
}

/** The media range; one that asks for another charset than UTF-8 takes nothing of ours. */
function rangeOf(item: string, place: number): Range {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
  const valueOf = (key: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${key}=`))?.slice(key.length + 1);
  const charset = valueOf('charset')?.replaceAll('"', '') ?? 'utf-8';
  const quality = Number(valueOf('q') ?? 1);
  return { name: charset === 'utf-8' ? name : '', quality: quality <= 1 ? quality : 1, place };
}

/** The most specific range decides. */
function rangeFor(mediaType: MediaType, ranges: readonly Range[]): Range | undefined {
  const named = (name: string): Range | undefined => ranges.find((range) => range.name === name);
  return named(mediaType) ?? named('application/*') ?? named('*/*');
}
