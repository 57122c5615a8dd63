import { hash } from 'node:crypto';
import { createScript } from '../../redis.ts';
import type { LedgerCall } from './ledger.ts';

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
 *
 * The decision on wants is that of `LocalLedger`.
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
for _, call in ipairs(wave.calls) do
  local key, id, endsIn = KEYS[call[1]], call[2], call[3]
  if endsIn then added = added + redis.call('ZADD', key, at(endsIn), id)
  else redis.call('ZREM', key, id) end
end

-- With no gateway a call ends later than that, unless the clock was put back: then all of before end now.
local function endLate(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. at(${longestOfAllMs}), '+inf')) do
    redis.call('ZADD', key, at(0), id)
  end
end

local counted = {}
local held = {}
local function countsOf(part, log)
  local counts = counted[log.key]
  if not counts then
    counts = {}
    counted[log.key] = counts
    redis.call('ZREMRANGEBYSCORE', KEYS[log.key], 0, at(-part.windows[#part.windows]))
    endLate(KEYS[log.key])
    for nth, ms in ipairs(part.windows) do
      counts[nth] = redis.call('ZCOUNT', KEYS[log.key], '(' .. at(-ms), '+inf')
    end
  end
  return counts
end
-- A call in flight counts for at least one more window.
local function leavesIn(score, ms)
  score = tonumber(score)
  return score <= now and math.ceil(score + ms - now) or ms
end
local function waitOf(part, log)
  local calls = #part.ids + (held[log.key] or 0)
  local longest = 0
  for nth, ms in ipairs(part.windows) do
    local limit = log.limits[nth]
    local wait = ms
    if limit > 0 then
      local laps = math.floor(math.max(0, calls - 1) / limit)
      local leaving = countsOf(part, log)[nth] + calls - laps * limit - limit
      wait = laps * ms
      if leaving > 0 then
        local one = redis.call('ZRANGEBYSCORE', KEYS[log.key], '(' .. at(-ms), '+inf', 'WITHSCORES', 'LIMIT', leaving - 1, 1)
        wait = wait + leavesIn(one[2], ms)
      end
    end
    longest = math.max(longest, wait)
  end
  return longest
end
local function begin(part, log)
  for _, id in ipairs(part.ids) do redis.call('ZADD', KEYS[log.key], at(wave.longestCallMs), id) end
  for nth, count in ipairs(countsOf(part, log)) do counted[log.key][nth] = count + #part.ids end
end
local function stateOf(part, log)
  local state = {}
  for nth, ms in ipairs(part.windows) do
    local count = countsOf(part, log)[nth]
    local last = redis.call('ZREVRANGE', KEYS[log.key], 0, 0, 'WITHSCORES')[2]
    state[nth] = { count, count == 0 and 0 or leavesIn(last, ms) }
  end
  return state
end

local decisions = {}
for index, want in ipairs(wave.wants) do
  local turn, late, isHeldByShare = 0, 1, false
  for place, part in ipairs(want.parts) do
    for nth, log in ipairs(part.logs) do
      local wait = waitOf(part, log)
      if wait > turn then turn, late = wait, place end
      if nth > 1 and wait > 0 then isHeldByShare = true end
    end
  end
  local states = {}
  for place, part in ipairs(want.parts) do
    states[place] = {}
    for nth, log in ipairs(part.logs) do
      if turn == 0 then begin(part, log)
      elseif want.holds and not (isHeldByShare and nth == 1) then held[log.key] = (held[log.key] or 0) + #part.ids end
      states[place][nth] = stateOf(part, log)
    end
  end
  decisions[index] = { turn, late, states }
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
return { wave.era, added, decisions }
`);

/** Calls that begin together, or not at all, as the script reads them. Names are numbered from 1. */
export interface ScriptWant {
  readonly holds: boolean;
  readonly parts: readonly {
    /** The milliseconds of each window, shortest first. */
    readonly windows: readonly number[];
    /** The logs that count the calls, with the limit of each window. */
    readonly logs: readonly { readonly key: number; readonly limits: readonly number[] }[];
    readonly ids: readonly string[];
  }[];
}

/** The argument of the script, as JSON. */
export interface ScriptWave {
  /** The era in which Redis has all calls of this gateway. */
  readonly era: string;
  /** The name of the next era. */
  readonly newEra: string;
  readonly longestCallMs: number;
  /** The time for which names without new calls are kept, in milliseconds. */
  readonly keptMs: number;
  /** Calls with the milliseconds to their end: less than 0 if they have ended, false if they were not sent. */
  readonly calls: readonly (readonly [key: number, id: string, endsIn: number | false])[];
  /** In the order in which they are decided. */
  readonly wants: readonly ScriptWant[];
}

/** The decision of the script on one want. */
export interface ScriptDecision {
  /** Milliseconds until its calls may begin; 0 if they have begun. */
  readonly turnMs: number;
  /** The index of the part that lacks calls. */
  readonly late: number;
  /** For each part, log and window, the calls that count and the milliseconds until none does. */
  readonly states: readonly (readonly (readonly (readonly number[])[])[])[];
}

/** The answer of the script. If the era of the wave was over, it holds only the era of Redis. */
export interface ScriptAnswer {
  readonly era: string;
  /** The number of the wave's calls that Redis did not have. */
  readonly added: number;
  readonly decisions: readonly ScriptDecision[] | undefined;
}

/** Reads the answer of the script. */
export function toAnswer(answer: unknown): ScriptAnswer {
  const [era, added = 0, decisions] = list(answer);
  return {
    era: String(era),
    added: Number(added),
    decisions: decisions === undefined ? undefined : list(decisions).map(toDecision),
  };
}

function toDecision(decision: unknown): ScriptDecision {
  const [turn, late, states] = list(decision);
  return {
    turnMs: Number(turn),
    late: Number(late) - 1,
    states: list(states).map((part) => list(part).map((log) => list(log).map((window) => list(window).map(Number)))),
  };
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

  /** The number, from 1, of the log of a key on a surface, or of one user there. */
  of({ key, surface }: Pick<LedgerCall, 'key' | 'surface'>, subject = ''): number {
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
