import { cacheNouns } from '../rest/cache/freshness.ts';
import { optional, required, type SettingsReader } from './reader.ts';
import { Fault, type Kind, whole } from './settings.ts';

/** The configuration of the cache of REST answers. */
export interface CacheConfig {
  /** The time for which answers are fresh, in seconds by noun. */
  readonly ttls: Readonly<Record<string, number>>;
  readonly staleSeconds: number;
  readonly maxBytes: number;
}

/** The longest time that an answer may be fresh, in seconds: a day. */
const longest = 86_400;

/** Settings of the cache of REST answers. */
export const cacheSettings = {
  ttls: optional(
    'CACHE_TTL',
    secondsByNoun('Seconds for which a cached answer is fresh, by kind of data. Default: no cache'),
  ),
  staleSeconds: required(
    'CACHE_STALE',
    whole(
      'Seconds after CACHE_TTL in which clients still get the old answer, while a new one is read',
      '600',
      0,
      604_800,
    ),
  ),
  mebibytes: required('CACHE_MAX_MB', whole('Most MiB of cached answers in each process', '64', 1, 65_536)),
};

/** Reads the settings of the cache; undefined if nothing is cached. */
export function readCache(reader: SettingsReader): CacheConfig | undefined {
  const { ttls: all, ...others } = cacheSettings;
  const ttls = reader.read(all);
  const { staleSeconds, mebibytes } = reader.all(others);
  if (!reader.isSet(all.name)) reader.warnOfIgnored(Object.values(others), `${all.name} is not set`);
  return ttls && Object.freeze({ ttls, staleSeconds, maxBytes: mebibytes * 2 ** 20 });
}

function secondsByNoun(meaning: string): Kind<Readonly<Record<string, number>>> {
  const nouns = cacheNouns.join(', ');
  return {
    fallback: undefined,
    meaning,
    expected: `seconds from 1 to ${longest} for ${nouns}, such as projects=60 events=5`,
    read: parse,
  };
}

/** The seconds of each noun. Throws a Fault. */
function parse(source: string): Readonly<Record<string, number>> {
  const ttls: Record<string, number> = {};
  for (const item of source.trim().split(/\s+/)) {
    const { noun = '', given } = /^(?<noun>[^=]*)(?:=(?<given>.*))?$/.exec(item)?.groups ?? {};
    if (!cacheNouns.includes(noun)) throw new Fault(`there is no kind ${JSON.stringify(noun)}`);
    if (Object.hasOwn(ttls, noun)) throw new Fault(`${noun} is there twice`);
    if (given === undefined) throw new Fault(`${noun} needs = and seconds behind it`);
    const seconds = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
    if (!(seconds >= 1 && seconds <= longest))
      throw new Fault(`${noun} has ${JSON.stringify(given)}, which is not seconds from 1 to ${longest}`);
    ttls[noun] = seconds;
  }
  return Object.freeze(ttls);
}
