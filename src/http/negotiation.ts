import type { PartsFormat } from '../context.ts';

/** The media types in which a result is answered as one document (GraphQL over HTTP §4.1). */
export type MediaType = 'application/json' | 'application/graphql-response+json';

const mediaTypes: readonly MediaType[] = ['application/json', 'application/graphql-response+json'];

/** The media types of answers that are streamed. */
export type StreamType = 'text/event-stream' | 'multipart/mixed';

const streamTypes: readonly StreamType[] = ['multipart/mixed', 'text/event-stream'];

/** The forms of answers that a client accepts. */
export interface Accepted {
  /**
   * The media type that the client prefers for a result as one document. If two types have the same weight, the client
   * gets the one that its header names first. Undefined if it accepts neither.
   */
  readonly document: MediaType | undefined;
  /** The stream type that it prefers for a result; undefined if it accepts none. */
  readonly stream: StreamType | undefined;
  /**
   * The format that it prefers for an answer in parts; undefined if it accepts none or prefers JSON. Parts win if the
   * weights are equal. `multipart/mixed` without a format does not ask for parts.
   */
  readonly parts: PartsFormat | undefined;
  /** The stream type that it prefers for the answers of a subscription; undefined if it accepts none. */
  readonly messages: StreamType | undefined;
}

/** The forms for clients that say nothing, and for those that name only JSON. */
export const onlyJson: Accepted = {
  document: 'application/json',
  stream: undefined,
  parts: undefined,
  messages: undefined,
};

const mostRemembered = 100;
const longestRemembered = 200;

/** The results of `negotiate` by header. They are kept, because most clients send one of a few headers. */
const remembered = new Map<string, Accepted>();

/** The forms that a client accepts by its header `Accept`. */
export function negotiate(accept = ''): Accepted {
  if (accept === '' || accept === 'application/json') return onlyJson;
  const known = remembered.get(accept);
  if (known !== undefined) return known;
  const accepted = acceptedIn(weightedItems(accept));
  if (accept.length > longestRemembered) return accepted;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(accept, accepted);
  return accepted;
}

function acceptedIn(items: readonly WeightedItem[]): Accepted {
  const ranges = items.map(toRange);
  // Messages in `multipart/mixed` have a form of their own. Only clients whose header names this form can read it.
  const ofMessages = items.filter((item) => item.name.startsWith('text/') || isOfMessages(item));
  return {
    document: bestOf(mediaTypes, ranges),
    stream: bestOf(streamTypes, ranges),
    parts: bestParts(items, ranges),
    messages: bestOf(streamTypes, ofMessages.map(toRange)),
  };
}

/** The parameters of `multipart/mixed` by which clients ask for an answer in parts. Most preferred first. */
const partsFormats: readonly { readonly format: PartsFormat; readonly parameter: string }[] = [
  { format: 'v0.2', parameter: 'incrementalspec' },
  { format: '20220824', parameter: 'deferspec' },
];

function bestParts(items: readonly WeightedItem[], ranges: readonly Range[]): PartsFormat | undefined {
  let best: { readonly format?: PartsFormat; readonly weight: number } = { weight: 0 };
  for (const { format, parameter: name } of partsFormats) {
    const isNamed = ({ parameter }: WeightedItem): boolean => parameter(name)?.replaceAll('"', '') === format;
    const weights = items
      .filter((item) => item.name === 'multipart/mixed' && isNamed(item))
      .map(({ weight }) => weight);
    const weight = Math.max(0, ...weights.filter((one) => one <= 1));
    if (weight > best.weight) best = { format, weight };
  }
  const json = mediaTypes.map((type) => rangeFor(type, ranges)?.quality ?? 0);
  return best.weight >= Math.max(...json) ? best.format : undefined;
}

/**
 * True if an item asks for https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
 */
function isOfMessages({ name, parameter }: WeightedItem): boolean {
  return name === 'multipart/mixed' && parameter('subscriptionspec')?.replaceAll('"', '') === '1.0';
}

function bestOf<T extends string>(types: readonly T[], ranges: readonly Range[]): T | undefined {
  let best: Range & { readonly type?: T } = { name: '', quality: 0, place: 0 };
  for (const type of types) {
    const range = rangeFor(type, ranges);
    if (range === undefined || range.quality < best.quality || range.quality === 0) continue;
    if (range.quality > best.quality || range.place < best.place) best = { ...range, type };
  }
  return best.type;
}

/** One item of an `Accept` header (RFC 9110 §12.5.1). */
interface Range {
  readonly name: string;
  readonly quality: number;
  readonly place: number;
}

/**
 * The media range of an item. A range with a charset other than UTF-8 matches no answer of the gateway. A malformed
 * weight counts as 1.
 */
function toRange({ name, parameter, weight }: WeightedItem, place: number): Range {
  const charset = parameter('charset')?.replaceAll('"', '') ?? 'utf-8';
  const quality = weight <= 1 ? weight : 1;
  return { name: charset === 'utf-8' ? name : '', quality, place };
}

function rangeFor(type: string, ranges: readonly Range[]): Range | undefined {
  const named = (name: string): Range | undefined => ranges.find((range) => range.name === name);
  return named(type) ?? named(`${type.slice(0, type.indexOf('/'))}/*`) ?? named('*/*');
}

/** A content coding that answers are sent in (RFC 9110 §8.4.1). */
export type Coding = 'br' | 'gzip';

/** The codings, most preferred first. If a client gives both the same weight, the first one is used. */
const codings: readonly Coding[] = ['br', 'gzip'];

/**
 * The coding that a client prefers by its `Accept-Encoding`; undefined if the client prefers none. A coding is used
 * only if the header names it or has `*` (RFC 9110 §12.5.3). A malformed weight counts as 0.
 */
export function negotiateCoding(accepted: string): Coding | undefined {
  const weights = new Map(
    weightedItems(accepted).map(({ name, weight }) => [name, weight >= 0 && weight <= 1 ? weight : 0]),
  );
  const weightFor = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const best = codings.reduce((a, b) => (weightFor(b) > weightFor(a) ? b : a));
  const weight = weightFor(best);
  return weight > 0 && weight >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** One item of a header such as `Accept` (RFC 9110 §12.4.2), in lower case. */
interface WeightedItem {
  readonly name: string;
  /** The value of a parameter; undefined if the item does not have it. */
  readonly parameter: (key: string) => string | undefined;
  /** Its `q`: 1 if there is none, NaN if it is not a number. */
  readonly weight: number;
}

function weightedItems(header: string): readonly WeightedItem[] {
  return header
    .toLowerCase()
    .split(',')
    .map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
      const parameter = (key: string): string | undefined =>
        parameters.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1);
      return { name, parameter, weight: weightOf(parameter('q')) };
    });
}

function weightOf(text = '1'): number {
  return /^\d+(?:\.\d*)?$/.test(text) ? Number(text) : Number.NaN;
}
