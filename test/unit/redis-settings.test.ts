import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config-error.ts';
import { readConfig } from '../../src/settings/config.ts';
import { settings } from '../../src/settings/declaration.ts';
import { createFolder } from '../support/persisted.ts';

const sentinelPath = 'the part after the host is not the name of the primary, perhaps with / and a database';

test.each([
  ['redis://', 'redis://', 'it names no host'],
  ['redis:host', 'redis://', 'it names no host'],
  ['redis://host/main', 'redis://host', 'the part after the host is not the number of a database'],
  ['redis://host:6379/-1', 'redis://host:6379', 'the part after the host is not the number of a database'],
  ['redis://:100%hunter2@host', 'redis://host with a password', 'write a % in a user or a password as %25'],
  ['redis://host/#hunter2', 'redis://host with a fragment', 'it has a fragment; write a # in a password as %23'],
  ['redis+sentinel://host', 'something else', sentinelPath],
  ['redis+sentinel://host/main/first', 'something else', sentinelPath],
  ['redis+cluster://host/1', 'something else', 'the part after the host is not empty: a Cluster has only database 0'],
  ['rediss+cluster://host,,other', 'something else', 'it names no host'],
  ['redis+cluster://:100%hunter2@host', 'something else', 'write a % in a user or a password as %25'],
  ['redis://hunter2#4711@host', 'something else', 'it has a fragment; write a # in a password as %23'],
])(
  'the Redis %s is refused with a message that says what is wrong, without what may be secret',
  (value, shown, fault) => {
    const { expected } = settings['REDIS_URL'] ?? {};
    expect(() => readConfig({ REDIS_URL: value })).toThrow(
      new ConfigError(`REDIS_URL: expected ${expected}, but got ${shown}: ${fault}`),
    );
  },
);

test.each([
  'redis://127.0.0.1',
  'redis://host:6379/',
  'redis://host/15',
  'rediss://user:p%23%25@host:6380/0',
  'redis://[::1]:6379/2?family=6',
  'redis+sentinel://host:26379,[::1]/main',
  'rediss+sentinel://user:p%23@host:26379,other/main/2',
  'redis+cluster://host',
  'rediss+cluster://user:p%23@host:6379,other:6379/0',
])('the Redis %s is taken', (url) => expect(readConfig({ REDIS_URL: url }).persisted.redisUrl).toBe(url));

test('a file with the password of Redis is no use without a Redis, and wrong beside a password in its URL', () => {
  using folder = createFolder();
  const REDIS_PASSWORD_FILE = folder.write('password', 'hunter2\n');
  expect(readConfig({ REDIS_PASSWORD_FILE }).warnings).toEqual([
    'REDIS_PASSWORD_FILE: it is ignored, because REDIS_URL is not set',
  ]);
  const { persisted, warnings } = readConfig({ REDIS_PASSWORD_FILE, REDIS_URL: 'redis://user@host' });
  expect(persisted.redisPasswordFile).toBe(REDIS_PASSWORD_FILE);
  expect(warnings).toEqual([]);
  const urls = ['redis://:hunter3@host', 'redis://user:hunter3@host', 'redis://host?password=hunter3'];
  for (const REDIS_URL of [...urls, 'redis+sentinel://:hunter3@host,other/main', 'rediss+cluster://user:hunter3@host'])
    expect(() => readConfig({ REDIS_PASSWORD_FILE, REDIS_URL })).toThrow(
      new ConfigError('REDIS_PASSWORD_FILE: expected REDIS_URL to have no password, but it has one'),
    );
});
