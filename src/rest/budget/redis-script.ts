import { hash } from 'node:crypto';

/** Longer than the longest `OPERATION_DEADLINE_MS` that any gateway can have, in milliseconds. */
const longestOfAllMs = 660_000;

/** A gateway that Redis has not heard of for so long is not counted any more, in milliseconds. */
const gatewayMs = 60_000;

/** Most gateways of which a log holds the mark: those that have ended leave theirs behind. */
const mostMarks = 1000;

/**
 * What Redis does with a wave of calls, as one step that nothing comes between. All times are of Redis's clock.
 *
 * `KEYS[1]` holds when each gateway was heard of. Each further name is a log: a sorted set of the calls of an account, or of one
 * user there, by the time of their end. That of a call in flight is the latest that is possible, so one without an answer
 * leaves by itself. Each gateway has a mark in each log, with a negative score, that changes with each of its waves. If
 * the mark is not the one that the gateway expects, the log has lost calls: it was evicted, flushed, or read from an older
 * file. Then nothing is done, and the gateway sends the wave again with all of its calls.
 */
export const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local wave = cjson.decode(ARGV[1])
local function at(milliseconds) return string.format('%.3f', now + milliseconds) end

local mark = '=' .. wave.gateway
for _, log in ipairs(wave.logs) do
  if log[2] ~= 0 and tonumber(redis.call('ZSCORE', KEYS[log[1]], mark) or 0) ~= -log[2] then return {1} end
end

local isKnown = redis.call('ZADD', KEYS[1], at(0), wave.gateway) == 0
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at(-${gatewayMs}))
redis.call('ZREMRANGEBYSCORE', KEYS[1], at(${gatewayMs}), '+inf')
redis.call('PEXPIRE', KEYS[1], ${gatewayMs})

local added = 0
local function put(key, id, endsIn)
  added = added + redis.call('ZADD', KEYS[key], at(endsIn), id)
  redis.call('PEXPIRE', KEYS[key], wave.keptMs)
end
for _, log in ipairs(wave.logs) do
  if redis.call('ZCOUNT', KEYS[log[1]], '-inf', '(0') > ${mostMarks} then
    redis.call('ZREMRANGEBYSCORE', KEYS[log[1]], '-inf', '(0')
  end
  redis.call('ZADD', KEYS[log[1]], -wave.number, mark)
  redis.call('PEXPIRE', KEYS[log[1]], wave.keptMs)
end
for _, call in ipairs(wave.calls) do put(call[1], call[2], call[3]) end
for _, call in ipairs(wave.drops) do redis.call('ZREM', KEYS[call[1]], call[2]) end
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
      redis.call('ZREMRANGEBYSCORE', KEYS[key], 0, at(-reservation.longestMs))
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
return { 0, isKnown and 1 or 0, redis.call('ZCARD', KEYS[1]), resent, verdicts, states }
`;

/** What Redis knows the script by, once it has run. */
export const scriptHash = hash('sha1', script);

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
  /** Greater than that of any earlier wave of this gateway. */
  readonly number: number;
  /** Each log with the number of the wave that told it last; 0: this wave has all calls that this gateway knows of. */
  readonly logs: readonly (readonly [key: number, told: number])[];
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

/** What the script answers. */
export interface ScriptReply {
  /** True if Redis had heard of this gateway within the last minute. */
  readonly isKnown: boolean;
  /** Gateways that it has heard of within the last minute. */
  readonly gateways: number;
  /** How many of the calls that the wave told it did not know. */
  readonly added: number;
  /** Of each reservation, which calls may begin. */
  readonly verdicts: readonly (readonly boolean[])[];
  readonly states: readonly LogStates[];
}

/** Reads what the script has answered; undefined if a log has lost calls. Throws for anything else. */
export function toReply(answer: unknown): ScriptReply | undefined {
  const [hasLost, isKnown, gateways, added, verdicts, states] = list(answer);
  if (hasLost === 1) return undefined;
  return {
    isKnown: isKnown === 1,
    gateways: Number(gateways),
    added: Number(added),
    verdicts: list(verdicts).map((calls) => list(calls).map((allowed) => allowed === 1)),
    states: list(states).map((logs) =>
      list(logs).map((windows) => list(windows).map((numbers) => list(numbers).map(Number))),
    ),
  };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('expected a list from Redis');
  return value;
}
