import { hash } from 'node:crypto';

/** Longer than the longest `OPERATION_DEADLINE_MS` that any gateway can have, in milliseconds. */
const longestOfAllMs = 660_000;

/**
 * What Redis does with a wave of calls, as one step that nothing comes between. A sorted set for each account, and for each
 * user with a share of it, holds the calls that count, by the time of their end: that of those in flight is when they have
 * ended at the latest. So one without an answer leaves by itself. All times are of Redis's clock.
 *
 * `KEYS[1]` holds when the state was born, and in which process: a process that is started again, or a replica that takes
 * its place, may have a state that is older than what the one before knew, so it begins a new one. What is known of calls is
 * kept, for it is no less true. `KEYS[2]` holds the gateways that have sent their calls since then. A wave of one that has not
 * is not looked at.
 */
export const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local wave = cjson.decode(ARGV[1])
local function at(milliseconds) return string.format('%.3f', now + milliseconds) end

local info = redis.pcall('INFO', 'server')
local process = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local born = redis.call('GET', KEYS[1])
if not born or (process ~= '' and string.match(born, '%w*$') ~= process) then
  born = at(0) .. ' ' .. process
  redis.call('SET', KEYS[1], born)
  redis.call('DEL', KEYS[2])
end
if not wave.joins and wave.born ~= born then return {born} end

local function put(key, id, endsIn)
  redis.call('ZADD', KEYS[key], at(endsIn), id)
  redis.call('PEXPIRE', KEYS[key], wave.keptMs)
end
for _, call in ipairs(wave.calls) do put(call[1], call[2], call[3]) end
for _, call in ipairs(wave.drops) do redis.call('ZREM', KEYS[call[1]], call[2]) end
if wave.gateway ~= '' then
  redis.call('SADD', KEYS[2], wave.gateway)
  redis.call('PEXPIRE', KEYS[2], wave.keptMs)
end

-- With no gateway a call ends later than that, unless the clock was put back: then all of before end now.
local function endLate(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[key], '(' .. at(${longestOfAllMs}), '+inf')) do
    redis.call('ZADD', KEYS[key], at(0), id)
  end
end

local verdicts = {}
local states = {}
for index, take in ipairs(wave.takes) do
  local counts = {}
  local function countsOf(key)
    if not counts[key] then
      counts[key] = {}
      redis.call('ZREMRANGEBYSCORE', KEYS[key], '-inf', at(-take.longestMs))
      endLate(key)
      for nth, window in ipairs(take.windows) do
        counts[key][nth] = redis.call('ZCOUNT', KEYS[key], '(' .. at(-window[1]), '+inf')
      end
    end
    return counts[key]
  end
  local function fits(key, limitAt, isBackground)
    for nth, window in ipairs(take.windows) do
      local limit = window[limitAt]
      if isBackground then limit = limit - math.ceil(limit / 5) end
      if countsOf(key)[nth] >= limit then return false end
    end
    return true
  end
  local function begin(key, id)
    put(key, id, wave.longestCallMs)
    for nth in ipairs(take.windows) do counts[key][nth] = counts[key][nth] + 1 end
  end
  verdicts[index] = {}
  for place, call in ipairs(take.calls) do
    local isAllowed = fits(take.key, 2, call[3] == 1) and (call[2] == 0 or fits(call[2], 3, false))
    if isAllowed then
      begin(take.key, call[1])
      if call[2] ~= 0 then begin(call[2], call[1]) end
    end
    verdicts[index][place] = isAllowed and 1 or 0
  end
  states[index] = {}
  for place, key in ipairs(take.tells) do
    states[index][place] = {}
    for nth, window in ipairs(take.windows) do
      local function leaves(score) return score <= now and math.ceil(score + window[1] - now) or -1 end
      local last = redis.call('ZREVRANGE', KEYS[key], 0, 0, 'WITHSCORES')[2]
      local told = { countsOf(key)[nth], last and leaves(tonumber(last)) or 0 }
      local first = redis.call('ZRANGEBYSCORE', KEYS[key], '(' .. at(-window[1]), '+inf', 'WITHSCORES', 'LIMIT', 0, take.most)
      for score = 2, #first, 2 do told[#told + 1] = leaves(tonumber(first[score])) end
      states[index][place][nth] = told
    end
  end
end
local age = math.floor(now - tonumber(string.match(born, '^[^ ]+')))
return { born, age, redis.call('SCARD', KEYS[2]), verdicts, states, process ~= '' and 1 or 0 }
`;

/** What Redis knows the script by, once it has run. */
export const scriptHash = hash('sha1', script);

/** Calls of one account that want to begin, as the script reads them. Numbers of names count from 1. */
export interface ScriptTake {
  readonly key: number;
  /** Of each window its milliseconds, the limit of all, and that of one user. */
  readonly windows: readonly (readonly [ms: number, limit: number, share: number])[];
  readonly longestMs: number;
  /** The name of the user's set is 0 without a share; `isBackground` is 0 or 1. */
  readonly calls: readonly (readonly [id: string, user: number, isBackground: number])[];
  /** The sets of which the state is answered, and of how many of their calls at most. */
  readonly tells: readonly number[];
  readonly most: number;
}

/** What the script is given, as JSON. */
export interface ScriptWave {
  /** The state that the gateway has joined; empty: none. */
  readonly born: string;
  /** Whether it sends calls to whatever state there is. */
  readonly joins: boolean;
  /** Its name once it has sent all of them; else empty. */
  readonly gateway: string;
  readonly longestCallMs: number;
  /** How long sets are kept that nothing is put into. */
  readonly keptMs: number;
  /** Calls that count, with the milliseconds to their end: less than 0 if they have ended. */
  readonly calls: readonly (readonly [key: number, id: string, endsIn: number])[];
  readonly drops: readonly (readonly [key: number, id: string])[];
  readonly takes: readonly ScriptTake[];
}

/** What the script answers. */
export interface ScriptReply {
  readonly born: string;
  /** Undefined if the gateway has to join first. */
  readonly joined:
    | {
        readonly ageMs: number;
        readonly gateways: number;
        /** Whether it says which process it is; if not, a state that is older than the truth goes unnoticed. */
        readonly tellsProcess: boolean;
        /** Of each take, whether its calls may begin. */
        readonly verdicts: readonly (readonly boolean[])[];
        /** Of each take, of each set that is answered, of each window: count, when it is empty, when its first calls leave. */
        readonly states: readonly (readonly (readonly (readonly number[])[])[])[];
      }
    | undefined;
}

/** Reads what the script has answered. Throws for anything else. */
export function toReply(answer: unknown): ScriptReply {
  const [born, ageMs, gateways, verdicts, states, tellsProcess] = list(answer);
  if (typeof born !== 'string') throw new Error('expected the time of a birth from Redis');
  if (ageMs === undefined) return { born, joined: undefined };
  return {
    born,
    joined: {
      ageMs: Number(ageMs),
      gateways: Number(gateways),
      tellsProcess: tellsProcess === 1,
      verdicts: list(verdicts).map((calls) => list(calls).map((allowed) => allowed === 1)),
      states: list(states).map((sets) =>
        list(sets).map((windows) => list(windows).map((numbers) => list(numbers).map(Number))),
      ),
    },
  };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('expected a list from Redis');
  return value;
}
