import { redisAddressOf } from '../redis-address.ts';
import { readPassword } from '../redis-password.ts';
import { ConfigError, type Environment, Fault, isSet, type Setting } from './settings.ts';
import { shownPath } from './tls-settings.ts';

/** A file with a password; the value is its path, for the file is read again later. */
export function passwordFile(meaning: string): Setting<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'the path of a file with a password',
    shown: shownPath,
    read: (path) => {
      const read = readPassword(path);
      if ('fault' in read) throw new Fault(read.fault);
      return path;
    },
  };
}

/** Checks that there is one password of Redis at most. Throws a ConfigError. */
export function checkRedis(environment: Environment): void {
  if (!isSet(environment, 'REDIS_PASSWORD_FILE')) return;
  const url = URL.parse(redisAddressOf(environment['REDIS_URL'] ?? '').members[0] ?? '');
  if (url === null || (url.password === '' && !url.searchParams.has('password'))) return;
  throw new ConfigError('REDIS_PASSWORD_FILE: expected a REDIS_URL without a password, but it has one');
}

/** What to say of settings that mean nothing without a Redis, TLS to it, or Sentinels. */
export function redisWarnings(environment: Environment): readonly string[] {
  if (!isSet(environment, 'REDIS_URL')) {
    const names = ['REDIS_CA', 'REDIS_PASSWORD_FILE', 'REDIS_SENTINEL_PASSWORD'];
    const idle = names.filter((name) => isSet(environment, name));
    return idle.map((name) => `${name}: it is ignored, because REDIS_URL is not set`);
  }
  const { kind, isSecure } = redisAddressOf(environment['REDIS_URL'] ?? '');
  const warnings: string[] = [];
  if (!isSecure && isSet(environment, 'REDIS_CA'))
    warnings.push('REDIS_CA: it is ignored, because REDIS_URL is not a rediss URL');
  if (kind !== 'sentinel' && isSet(environment, 'REDIS_SENTINEL_PASSWORD'))
    warnings.push('REDIS_SENTINEL_PASSWORD: it is ignored, because REDIS_URL names no Sentinels');
  return warnings;
}
