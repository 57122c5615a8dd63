import { hash } from 'node:crypto';
import { createScript, type SharedRedis } from '../../redis.ts';
import { hashOf } from './ids.ts';
import type { SharedTexts } from './store.ts';

/** The time that Redis keeps a text after it was last stored, in seconds: a week. */
const keptSeconds = 7 * 24 * 3600;

/** The approximate bytes that Redis needs for a text in addition to the text itself. */
const entryBytes = 200;

/**
 * Texts are kept in this number of parts, each of which has a limit in bytes. A caller always uses the same part, so it
 * cannot evict the texts in the others.
 */
const rooms = 8;
const roomBytes = 4 * 2 ** 20;

/**
 * Records a text in its room and returns the texts that must leave it: those that were stored least recently. A room is a
 * sorted set of hashes and sizes, scored by the time of storing. The member `bytes` holds the sum of the sizes as a score
 * below zero.
 */
const enter = createScript(`
local time = redis.call('TIME')
local leaving = {}
if redis.call('ZADD', KEYS[1], time[1] + time[2] / 1000000, ARGV[1]) == 1 then
  local left = ${roomBytes} + redis.call('ZINCRBY', KEYS[1], -string.match(ARGV[1], '%d+$'), 'bytes')
  while left < 0 do
    local oldest = redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf', 'LIMIT', 0, 1)[1]
    local hash, size = string.match(oldest, '^(%S+) (%d+)$')
    redis.call('ZREM', KEYS[1], oldest)
    left = ${roomBytes} + redis.call('ZINCRBY', KEYS[1], size, 'bytes')
    leaving[#leaving + 1] = hash
  end
end
redis.call('EXPIRE', KEYS[1], ${keptSeconds})
return leaving`);

/**
 * Keeps texts in Redis, under the keys that Apollo Server uses (`apq:<hash>`). A Redis that is down, slow or full
 * causes a miss and never an error.
 */
export function createRedisStore(redis: SharedRedis): SharedTexts {
  const keep = async (hashOfText: string, text: string, callerName: string): Promise<void> => {
    const bytes = Buffer.byteLength(text) + entryBytes;
    if (bytes > roomBytes) return;
    const room = Number.parseInt(hash('sha256', callerName).slice(0, 8), 16) % rooms;
    const leaving = await redis.run(enter, [`apq:room:${room}`], [`${hashOfText} ${bytes}`]);
    if (!Array.isArray(leaving)) return;
    void redis.ask('set', [`apq:${hashOfText}`, text, 'EX', keptSeconds]);
    for (const other of leaving) void redis.ask('unlink', [`apq:${String(other)}`]);
  };
  return {
    get: async (hashOfText) => {
      const text = await redis.ask('get', [`apq:${hashOfText}`]);
      // Other programs may write to the same Redis.
      return typeof text === 'string' && hashOf(text) === hashOfText ? text : undefined;
    },
    set: (hashOfText, text, callerName) => void keep(hashOfText, text, callerName),
  };
}
