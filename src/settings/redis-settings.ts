import { redisAddressOf } from '../redis-address.ts';
import { optional, type SettingsReader } from './reader.ts';
import { pemFile, secretFile } from './setting-files.ts';
import { nothing, text } from './settings.ts';
import { redisUrl } from './urls.ts';

/** The Redis that gateways share. */
export const redisSettings = {
  redisUrl: optional(
    'REDIS_URL',
    redisUrl('Redis in which gateways share documents, budgets and the cache. Default: none'),
  ),
  redisAuthorities: optional('REDIS_CA', pemFile('PEM file with more certificate authorities for Redis')),
  redisPasswordFile: optional(
    'REDIS_PASSWORD_FILE',
    secretFile('File with the password of Redis, read at each connect', 'the path of a file with a password'),
  ),
  redisSentinelPassword: optional('REDIS_SENTINEL_PASSWORD', {
    ...text('Password of the Sentinels', undefined, 'a password'),
    shown: nothing,
  }),
};

/**
 * Reports a fault if Redis has two passwords, and warns of settings that have no effect without Redis, without TLS to it,
 * or without Sentinels.
 */
export function checkRedis(reader: SettingsReader): void {
  const { redisUrl: address, redisAuthorities, redisPasswordFile, redisSentinelPassword } = redisSettings;
  if (!reader.isSet(address.name)) {
    const others = [redisAuthorities, redisPasswordFile, redisSentinelPassword];
    return reader.warnOfIgnored(others, `${address.name} is not set`);
  }
  const source = reader.read(address);
  if (source === undefined) return;
  const { kind, isSecure, members } = redisAddressOf(source);
  if (!isSecure) reader.warnOfIgnored([redisAuthorities], `${address.name} is not a rediss URL`);
  if (kind !== 'sentinel') reader.warnOfIgnored([redisSentinelPassword], `${address.name} names no Sentinels`);
  const url = URL.parse(members[0] ?? '');
  const hasPassword = url !== null && (url.password !== '' || url.searchParams.has('password'));
  if (hasPassword && reader.isSet(redisPasswordFile.name))
    reader.fault(redisPasswordFile.name, `expected a ${address.name} without a password, but it has one`);
}
