import { hash } from 'node:crypto';
import { createScript } from '../../redis.ts';
import type { Account } from './ledger.ts';

/** Longer than the longest `OPERATION_DEADLINE_MS` that any gateway can have, in milliseconds. */
const longestOfAllMs = 660_000;

/** A gateway that Redis has not heard of for so long is not counted any more, in milliseconds. */
const gatewayMs = 60_000;

/**
 * What Redis does with a wave of calls, as one step that nothing comes between. All times are of Redis's clock.
 *
 * `KEYS[1]` holds when each gateway was heard of. `KEYS[2]` holds when a call was last put into each log, and the name of the
 * era. Each further name is a log: a sorted set of the calls of an account, or of one user there, by the time of their end.
 * That of a call in flight is the latest that is possible, so one without an answer leaves by itself.
 *
 * An era ends when Redis has lost calls: a log that should be there was evicted, all was flushed, or the server was started with
 * an older file or has become the primary, which gives it another replication id. A wave of another era than Redis's does
 * nothing. Its gateway then adds all of its calls that Redis lacks, and sends it again.
 */
export const script = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local wave = cjson.decode(ARGV[1])
local function at(milliseconds) return string.format('%.3f', now + milliseconds) end

local era = redis.call('ZRANGEBYSCORE', KEYS[2], -1, -1)[1]
for key = 3, #KEYS do
  local put = tonumber(redis.call('ZSCORE', KEYS[2], KEYS[key]) or 0)
  if put > now - wave.keptMs and redis.call('EXISTS', KEYS[key]) == 0 then era = nil end
end
if not era then
  era = wave.newEra
  redis.call('DEL', KEYS[2])
  redis.call('ZADD', KEYS[2], -1, era)
  redis.call('PEXPIRE', KEYS[2], wave.keptMs)
end
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
if server .. era ~= wave.era then return { server .. era } end

redis.call('ZADD', KEYS[1], at(0), wave.gateway)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at(-${gatewayMs}))
redis.call('ZREMRANGEBYSCORE', KEYS[1], at(${gatewayMs}), '+inf')
redis.call('PEXPIRE', KEYS[1], ${gatewayMs})
redis.call('ZREMRANGEBYSCORE', KEYS[2], 0, at(-wave.keptMs))

local added = 0
local function put(key, id, endsIn)
  added = added + redis.call('ZADD', KEYS[key], at(endsIn), id)
  redis.call('PEXPIRE', KEYS[key], wave.keptMs)
  redis.call('ZADD', KEYS[2], at(0), KEYS[key])
  redis.call('PEXPIRE', KEYS[2], wave.keptMs)
end
-- Redis drops a log without calls by itself: that is no loss.
local function remove(key, command, ...)
  redis.call(command, KEYS[key], ...)
  if redis.call('EXISTS', KEYS[key]) == 0 then redis.call('ZREM', KEYS[2], KEYS[key]) end
end
for _, call in ipairs(wave.calls) do put(call[1], call[2], call[3]) end
for _, call in ipairs(wave.drops) do remove(call[1], 'ZREM', call[2]) end
local resent = added

-- With no gateway a call ends later than that, unless the clock was put back: then all of before end now.
local function endLate(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[key], '(' .. at(${longestOfAllMs}), '+inf')) do
    redis.call('ZADD', KEYS[key], at(0), id)
  end
end

local verdicts = {}
local states = {}
for index, reservation in ipairs(wave.reservations) do
  local counts = {}
  local function countsOf(key)
    if not counts[key] then
      counts[key] = {}
      remove(key, 'ZREMRANGEBYSCORE', 0, at(-reservation.longestMs))
      endLate(key)
      for nth, window in ipairs(reservation.windows) do
        counts[key][nth] = redis.call('ZCOUNT', KEYS[key], '(' .. at(-window[1]), '+inf')
      end
    end
    return counts[key]
  end
  local function fits(key, limitAt, isBackground)
    for nth, window in ipairs(reservation.windows) do
      local limit = window[limitAt]
      if isBackground then limit = limit - math.ceil(limit / 5) end
      if countsOf(key)[nth] >= limit then return false end
    end
    return true
  end
  local function begin(key, id)
    put(key, id, wave.longestCallMs)
    for nth in ipairs(reservation.windows) do counts[key][nth] = counts[key][nth] + 1 end
  end
  verdicts[index] = {}
  for place, call in ipairs(reservation.calls) do
    local isAllowed = fits(reservation.key, 2, call[3] == 1) and (call[2] == 0 or fits(call[2], 3, false))
    if isAllowed then
      begin(reservation.key, call[1])
      if call[2] ~= 0 then begin(call[2], call[1]) end
    end
    verdicts[index][place] = isAllowed and 1 or 0
  end
  states[index] = {}
  for place, key in ipairs(reservation.tells) do
    states[index][place] = {}
    for nth, window in ipairs(reservation.windows) do
      local function leaves(score) return score <= now and math.ceil(score + window[1] - now) or -1 end
      local last = tonumber(redis.call('ZREVRANGE', KEYS[key], 0, 0, 'WITHSCORES')[2] or -1)
      local told = { countsOf(key)[nth], last >= 0 and leaves(last) or 0 }
      local first = redis.call('ZRANGEBYSCORE', KEYS[key], '(' .. at(-window[1]), '+inf', 'WITHSCORES', 'LIMIT', 0, reservation.max)
      for score = 2, #first, 2 do told[#told + 1] = leaves(tonumber(first[score])) end
      states[index][place][nth] = told
    end
  end
end
return { wave.era, redis.call('ZCARD', KEYS[1]), resent, verdicts, states }
`);

/** Calls of one account that want to begin, as the script reads them. Numbers of names count from 1. */
export interface ScriptReservation {
  readonly key: number;
  /** Of each window its milliseconds, the limit of all, and that of one user. */
  readonly windows: readonly (readonly [ms: number, limit: number, share: number])[];
  readonly longestMs: number;
  /** The name of the user's log is 0 without a share; `isBackground` is 0 or 1. */
  readonly calls: readonly (readonly [id: string, user: number, isBackground: number])[];
  /** The logs of which the state is answered, and of how many of their calls at most. */
  readonly tells: readonly number[];
  readonly max: number;
}

/** What the script is given, as JSON. */
export interface ScriptWave {
  readonly gateway: string;
  /** That in which Redis has all calls of this gateway. */
  readonly era: string;
  /** The name of the next one. */
  readonly newEra: string;
  readonly longestCallMs: number;
  /** How long names are kept that nothing is put into, in milliseconds. */
  readonly keptMs: number;
  /** Calls that count, with the milliseconds to their end: less than 0 if they have ended. */
  readonly calls: readonly (readonly [key: number, id: string, endsIn: number])[];
  readonly drops: readonly (readonly [key: number, id: string])[];
  readonly reservations: readonly ScriptReservation[];
}

/** What Redis answers of the logs of one reservation: of each window its count, when it is empty, when its first calls leave. */
export type LogStates = readonly (readonly (readonly number[])[])[];

/** What the script answers to a wave of its era. */
export interface ScriptReply {
  /** Gateways that Redis has heard of within the last minute. */
  readonly gateways: number;
  /** How many of the calls that the wave told it did not know. */
  readonly added: number;
  /** Of each reservation, which calls may begin. */
  readonly verdicts: readonly (readonly boolean[])[];
  readonly states: readonly LogStates[];
}

/** Reads what the script has answered: the era of Redis, and nothing more if the wave had another one. */
export function toReply(answer: unknown): { readonly era: string; readonly reply: ScriptReply | undefined } {
  const [era, gateways, added, verdicts, states] = list(answer);
  if (gateways === undefined) return { era: String(era), reply: undefined };
  const reply = {
    gateways: Number(gateways),
    added: Number(added),
    verdicts: list(verdicts).map((calls) => list(calls).map((allowed) => allowed === 1)),
    states: list(states).map((logs) =>
      list(logs).map((windows) => list(windows).map((numbers) => list(numbers).map(Number))),
    ),
  };
  return { era: String(era), reply };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('expected a list from Redis');
  return value;
}

/** The names in Redis that one wave uses, in the order of their first use. They hold hashes only, behind one hash tag. */
export class WaveNames {
  readonly names: string[];
  readonly #places = new Map<string, number>();
  readonly #prefix: string;

  /** `upstream` tells budgets of several upstreams in one Redis apart. */
  constructor(upstream: string) {
    this.#prefix = `budget:{${upstream}}:`;
    this.names = [`${this.#prefix}gateways`, `${this.#prefix}logs`];
  }

  /** The number, from 1, of the log of an account, or of one user there. */
  of({ key, surface }: Account, subject = ''): number {
    const owner = subject === '' ? key : `${key} ${subject}`;
    const name = `${this.#prefix}${hashOf(owner)}:${surface}`;
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = this.names.push(name);
    this.#places.set(name, place);
    return place;
  }
}

/** The hash that stands for a text in names. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
