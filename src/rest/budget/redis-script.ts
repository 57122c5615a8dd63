import { hash } from 'node:crypto';
import { createScript } from '../../redis.ts';
import type { Account } from './ledger.ts';

/** An upper bound of the `OPERATION_DEADLINE_MS` that any gateway can have, in milliseconds. */
const longestOfAllMs = 660_000;

/**
 * Decides on a wave of calls as one atomic step. All times are of Redis's clock.
 *
 * `KEYS[1]` holds the time of each log's last use, and the name of the era. Each further name is a log: a sorted set of the
 * calls of an account, or of one of its users, by the time of their end. A call in flight has its latest possible end, so
 * that one without an answer leaves by itself.
 *
 * An era ends when Redis has lost calls. That is so if a log that should exist was evicted, if everything was flushed, if
 * the server was started with an older file, or if it has become the primary; the last two give it another replication id. A
 * wave of another era than Redis's does nothing. Its gateway then adds all of its calls that Redis lacks, and sends the wave
 * again.
 */
export const script = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local wave = cjson.decode(ARGV[1])
local function at(milliseconds) return string.format('%.3f', now + milliseconds) end

local era = redis.call('ZRANGEBYSCORE', KEYS[1], -1, -1)[1]
for key = 2, #KEYS do
  local used = tonumber(redis.call('ZSCORE', KEYS[1], KEYS[key]) or 0)
  if used > now - wave.keptMs and redis.call('EXISTS', KEYS[key]) == 0 then era = nil end
end
if not era then
  era = wave.newEra
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], -1, era)
  redis.call('PEXPIRE', KEYS[1], wave.keptMs)
end
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
if server .. era ~= wave.era then return { server .. era } end

redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, at(-wave.keptMs))

local added = 0
local function put(key, id, endsIn) added = added + redis.call('ZADD', KEYS[key], at(endsIn), id) end
for _, call in ipairs(wave.calls) do put(call[1], call[2], call[3]) end
for _, call in ipairs(wave.drops) do redis.call('ZREM', KEYS[call[1]], call[2]) end
local resent = added

-- With no gateway a call ends later than that, unless the clock was put back: then all of before end now.
local function endLate(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[key], '(' .. at(${longestOfAllMs}), '+inf')) do
    redis.call('ZADD', KEYS[key], at(0), id)
  end
end

local counted = {}
local held = {}
local function countsOf(account, key)
  if not counted[key] then
    counted[key] = {}
    redis.call('ZREMRANGEBYSCORE', KEYS[key], 0, at(-account.longestMs))
    endLate(key)
    for nth, window in ipairs(account.windows) do
      counted[key][nth] = redis.call('ZCOUNT', KEYS[key], '(' .. at(-window[1]), '+inf')
    end
  end
  return counted[key]
end
local function fits(account, key, limitAt, calls, isBackground)
  for nth, window in ipairs(account.windows) do
    local limit = window[limitAt]
    if isBackground then limit = limit - math.ceil(limit / 5) end
    if countsOf(account, key)[nth] + (held[key] or 0) + calls > limit then return false end
  end
  return true
end
local function begin(account, key, ids)
  for _, id in ipairs(ids) do put(key, id, wave.longestCallMs) end
  for nth, count in ipairs(countsOf(account, key)) do counted[key][nth] = count + #ids end
end

local verdicts = {}
for index, want in ipairs(wave.wants) do
  local isAllowed = true
  local isHeldByShare = false
  for _, part in ipairs(want.parts) do
    local account = wave.accounts[part[1]]
    if not fits(account, account.key, 2, #part[3], want.isBackground) then isAllowed = false end
    if part[2] ~= 0 and not fits(account, part[2], 3, #part[3], false) then isHeldByShare = true end
  end
  isAllowed = isAllowed and not isHeldByShare
  for _, part in ipairs(want.parts) do
    local account = wave.accounts[part[1]]
    for _, key in ipairs({ account.key, part[2] }) do
      if key ~= 0 and isAllowed then begin(account, key, part[3]) end
      if key ~= 0 and want.holds and not isAllowed and not (isHeldByShare and key == account.key) then
        held[key] = (held[key] or 0) + #part[3]
      end
    end
  end
  verdicts[index] = isAllowed and 1 or 0
end

local states = {}
for index, account in ipairs(wave.accounts) do
  states[index] = {}
  for place, key in ipairs(account.tells) do
    states[index][place] = {}
    for nth, window in ipairs(account.windows) do
      local function leaves(score) return score <= now and math.ceil(score + window[1] - now) or -1 end
      local last = tonumber(redis.call('ZREVRANGE', KEYS[key], 0, 0, 'WITHSCORES')[2] or -1)
      local told = { countsOf(account, key)[nth], last >= 0 and leaves(last) or 0 }
      local first = redis.call('ZRANGEBYSCORE', KEYS[key], '(' .. at(-window[1]), '+inf', 'WITHSCORES', 'LIMIT', 0, account.max)
      for score = 2, #first, 2 do told[#told + 1] = leaves(tonumber(first[score])) end
      states[index][place][nth] = told
    end
  end
end

redis.call('PEXPIRE', KEYS[1], wave.keptMs)
for key = 2, #KEYS do
  if redis.call('PEXPIRE', KEYS[key], wave.keptMs) == 1 then
    redis.call('ZADD', KEYS[1], at(0), KEYS[key])
  else
    -- Redis drops a log without calls by itself: that is no loss.
    redis.call('ZREM', KEYS[1], KEYS[key])
  end
end
return { wave.era, resent, verdicts, states }
`);

/** An account whose calls are asked for, as the script reads it. Names are numbered from 1. */
export interface ScriptAccount {
  readonly key: number;
  /** For each window its milliseconds, the limit of all users, and that of one. */
  readonly windows: readonly (readonly [ms: number, limit: number, share: number])[];
  readonly longestMs: number;
  /** The logs whose state is answered, and the most calls of each that are listed. */
  readonly tells: readonly number[];
  readonly max: number;
}

/** Calls that begin together, or not at all, as the script reads them. */
export interface ScriptWant {
  readonly isBackground: boolean;
  readonly holds: boolean;
  /** The account by its index from 1, the name of the user's log (0 without a share), and the ids of the calls. */
  readonly parts: readonly (readonly [account: number, user: number, ids: readonly string[]])[];
}

/** A question to the script. */
export interface ScriptQuestion {
  readonly accounts: readonly ScriptAccount[];
  /** In the order in which they are decided. */
  readonly wants: readonly ScriptWant[];
}

/** The argument of the script, as JSON. */
export interface ScriptWave extends ScriptQuestion {
  /** The era in which Redis has all calls of this gateway. */
  readonly era: string;
  /** The name of the next era. */
  readonly newEra: string;
  readonly longestCallMs: number;
  /** The time for which names without new calls are kept, in milliseconds. */
  readonly keptMs: number;
  /** Calls that count, with the milliseconds to their end: less than 0 if they have ended. */
  readonly calls: readonly (readonly [key: number, id: string, endsIn: number])[];
  readonly drops: readonly (readonly [key: number, id: string])[];
}

/**
 * The states of the logs of one account. Each window has its count, the time until it is empty, and the times until its
 * first calls leave it.
 */
export type LogStates = readonly (readonly (readonly number[])[])[];

/** The answer of the script to a wave of its era. */
export interface ScriptReply {
  /** The number of the wave's calls that Redis did not have. */
  readonly added: number;
  /** For each want, true if its calls may begin. */
  readonly verdicts: readonly boolean[];
  /** By account. */
  readonly states: readonly LogStates[];
}

/** Reads the answer of the script. If the era of the wave was over, it holds only the era of Redis. */
export function toReply(answer: unknown): { readonly era: string; readonly reply: ScriptReply | undefined } {
  const [era, added, verdicts, states] = list(answer);
  if (added === undefined) return { era: String(era), reply: undefined };
  const reply = {
    added: Number(added),
    verdicts: list(verdicts).map((allowed) => allowed === 1),
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

/** The names in Redis that one wave uses, in the order of their first use. They hold only hashes, behind one hash tag. */
export class WaveNames {
  readonly names: string[];
  readonly #places = new Map<string, number>();
  readonly #prefix: string;

  /** `upstream` is part of every name, because several upstreams may share one Redis. */
  constructor(upstream: string) {
    this.#prefix = `budget:{${upstream}}:`;
    this.names = [`${this.#prefix}logs`];
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
