import { expect, test } from 'vitest';
import { readConfig } from '../../src/settings/config.ts';
import { ConfigError } from '../../src/settings/settings.ts';
import { createFolder } from '../support/persisted.ts';

test('a file with the password of Redis is no use without a Redis, and wrong beside a password in its URL', () => {
  using folder = createFolder();
  const REDIS_PASSWORD_FILE = folder.write('password', 'hunter2\n');
  expect(readConfig({ REDIS_PASSWORD_FILE }).warnings).toEqual([
    'REDIS_PASSWORD_FILE: it is ignored, because REDIS_URL is not set',
  ]);
  const { persisted, warnings } = readConfig({ REDIS_PASSWORD_FILE, REDIS_URL: 'redis://user@host' });
  expect(persisted.redisPasswordFile).toBe(REDIS_PASSWORD_FILE);
  expect(warnings).toEqual([]);
  for (const REDIS_URL of ['redis://:hunter3@host', 'redis://user:hunter3@host', 'redis://host?password=hunter3'])
    expect(() => readConfig({ REDIS_PASSWORD_FILE, REDIS_URL })).toThrow(
      new ConfigError('REDIS_PASSWORD_FILE: expected a REDIS_URL without a password, but it has one'),
    );
});
