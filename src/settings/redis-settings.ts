import { type Environment, isSet, type Setting, shownUrl } from './settings.ts';

/** The address of a Redis, which may hold a password. */
export function redisUrl(meaning: string): Setting<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0',
    shown: shownUrl,
    fault: (source) => {
      const parsed = redisIn(source);
      return parsed && faultOf(parsed);
    },
    read: (source) => {
      const parsed = redisIn(source);
      return parsed !== undefined && faultOf(parsed) === undefined ? source : undefined;
    },
  };
}

/** What to say of settings that mean nothing without a Redis, or without TLS to it. */
export function redisWarnings(environment: Environment): readonly string[] {
  if (!isSet(environment, 'REDIS_CA')) return [];
  if (!isSet(environment, 'REDIS_URL')) return ['REDIS_CA: it is ignored, because REDIS_URL is not set'];
  const isSecure = redisIn(environment['REDIS_URL'] ?? '')?.protocol === 'rediss:';
  return isSecure ? [] : ['REDIS_CA: it is ignored, because REDIS_URL is not a rediss URL'];
}

/** The parts of a text if it has the scheme of a Redis. */
function redisIn(source: string): URL | undefined {
  const parsed = URL.parse(source);
  return parsed !== null && /^rediss?:$/.test(parsed.protocol) ? parsed : undefined;
}

/** What is wrong with a URL that the client of Redis would read as something else, or not at all. */
function faultOf({ hostname, pathname, hash, username, password }: URL): string | undefined {
  if (hash !== '') return 'it has a fragment; a # in a password is written %23';
  if (hostname === '') return 'it names no host';
  if (!/^\/?\d{0,5}$/.test(pathname)) return 'what stands behind the host is not the number of a database';
  if (!isEncoded(username) || !isEncoded(password)) return 'a % in a user or a password is written %25';
  return undefined;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
