import { createScript } from '../../redis.ts';

/** An upper bound of the `OPERATION_DEADLINE_MS` that any gateway can have, in milliseconds. */
const longestOfAllMs = 660_000;

/**
 * Decides on a round of calls as one atomic step. All times are on the clock of Redis.
 *
 * `KEYS[1]` holds the time of each log's last use, and the name of the era. Each further name is a log: a sorted set of
 * the calls of a key, or of one user with the key, by the time of their end. A call in flight is there with its latest
 * possible end, so that a call without an answer leaves the log by itself.
 *
 * An era ends when Redis has lost calls. That is so if a log that should exist was evicted, if everything was flushed,
 * if the server was started with an older file, or if it has become the primary; the last two give it another
 * replication id. If a round names another era than that of Redis, it changes no log. The gateway then decides alone
 * until it has added all of its calls that Redis lacks.
 *
 * The argument is JSON, and names each log by its number in `KEYS`:
 *
 * - `era`, in which Redis has all calls of the gateway, and `newEra`, the name of the next one. There is no `era` in the
 *   first step of a gateway that sends all of its calls.
 * - `longestCallMs`, and `keptMs`, the time for which names without new calls are kept
 * - `calls` of the gateway, each with its log, its id, and the milliseconds until its end. That number is negative if
 *   the call has ended. It is replaced by `false` if the call was not sent.
 * - `wants`, each with `holdsPlaces` and `bySurface`: for each surface the `ids` of its calls, the milliseconds of its
 *   `windows`, and `logs`, the number and the `limits` of the key's log, then those of the user's log.
 *
 * The answer is empty if the round names another era than Redis has. Otherwise it has the era, the number of `calls`
 * that Redis did not have, and the decision on each want. `LocalLedger` decides by the same rules. A decision begins
 * with the milliseconds until its calls may begin (0 if they have begun) and the number of the surface whose limit has
 * no room. For a surface without `ids`, two numbers follow for each log and window: the calls that count now, and the
 * milliseconds until the last of them stops counting.
 */
export const script = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local round = cjson.decode(ARGV[1])
local function at(milliseconds) return string.format('%.3f', now + milliseconds) end

local era = redis.call('ZRANGEBYSCORE', KEYS[1], -1, -1)[1]
for key = 2, #KEYS do
  local used = tonumber(redis.call('ZSCORE', KEYS[1], KEYS[key]) or 0)
  if used > now - round.keptMs and redis.call('EXISTS', KEYS[key]) == 0 then era = nil end
end
if not era then
  era = round.newEra
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], -1, era)
  redis.call('PEXPIRE', KEYS[1], round.keptMs)
end
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
era = server .. era
if round.era and round.era ~= era then return {} end

redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, at(-round.keptMs))

local added = 0
for _, call in ipairs(round.calls) do
  local key, id, endsIn = KEYS[call[1]], call[2], call[3]
  if endsIn then added = added + redis.call('ZADD', key, at(endsIn), id)
  else redis.call('ZREM', key, id) end
end

-- No gateway has a call with a later end. Such an end shows that the clock was put back: the call then ends now.
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
      local fullWindows = math.floor(math.max(0, calls - 1) / limit)
      local leaving = countsOf(part, log)[nth] + calls - fullWindows * limit - limit
      wait = fullWindows * ms
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
  for _, id in ipairs(part.ids) do redis.call('ZADD', KEYS[log.key], at(round.longestCallMs), id) end
  for nth, count in ipairs(countsOf(part, log)) do counted[log.key][nth] = count + #part.ids end
end
local function tellState(decision, part, log)
  for nth, ms in ipairs(part.windows) do
    local count = countsOf(part, log)[nth]
    local last = redis.call('ZREVRANGE', KEYS[log.key], 0, 0, 'WITHSCORES')[2]
    decision[#decision + 1] = count
    decision[#decision + 1] = count == 0 and 0 or leavesIn(last, ms)
  end
end

local decisions = {}
for index, want in ipairs(round.wants) do
  local turn, lacking, isHeldByShare = 0, 1, false
  for place, part in ipairs(want.bySurface) do
    for nth, log in ipairs(part.logs) do
      local wait = waitOf(part, log)
      if wait > turn then turn, lacking = wait, place end
      if nth > 1 and wait > 0 then isHeldByShare = true end
    end
  end
  decisions[index] = { turn, lacking }
  for _, part in ipairs(want.bySurface) do
    for nth, log in ipairs(part.logs) do
      if turn == 0 then begin(part, log)
      elseif want.holdsPlaces and not (isHeldByShare and nth == 1) then held[log.key] = (held[log.key] or 0) + #part.ids end
      if #part.ids == 0 then tellState(decisions[index], part, log) end
    end
  end
end

redis.call('PEXPIRE', KEYS[1], round.keptMs)
for key = 2, #KEYS do
  if redis.call('PEXPIRE', KEYS[key], round.keptMs) == 1 then
    redis.call('ZADD', KEYS[1], at(0), KEYS[key])
  else
    -- Redis drops a log without calls by itself: that is no loss.
    redis.call('ZREM', KEYS[1], KEYS[key])
  end
end
return { era, added, decisions }
`);
