/** Lives what is asked of a fleet, and measures it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedis } from '../../test/support/redis.ts';
import { Member } from './member.ts';
import { type FleetCase, type FleetSize, planArrivals } from './plan.ts';
import { startService } from './service.ts';

/** The measurements of one case. */
export interface FleetFigures extends FleetCase {
  readonly operations: number;
  /** Operations that the budget refused, of all and of those that began in the outage. */
  readonly refused: number;
  readonly operationsInOutage: number;
  readonly refusedInOutage: number;
  readonly calls: number;
  /** The most calls in any span as long as the window of the limit. */
  readonly mostCalls: number;
  /** Fresh answers that a gateway found in Redis: another gateway had read them. */
  readonly found: number;
  readonly commands: number;
  /** The number of times that a gateway lost Redis, or waited for it in vain. */
  readonly losses: number;
  /** Processor time of Redis, in milliseconds. */
  readonly redisMs: number;
  /** The size of all names and values in Redis at the end, in bytes. */
  readonly redisBytes: number;
}

/** The time that the service takes for an answer, in milliseconds. */
const latencyMs = 100;

/** Lives one case: some 80 seconds in the whole form. */
export async function liveFleet(size: FleetSize, one: FleetCase): Promise<FleetFigures> {
  await using redis = await startRedis();
  await using service = await startService(latencyMs);
  await using stack = new AsyncDisposableStack();
  const members = Array.from({ length: one.gateways }, () => stack.use(new Member(service.url, redis.url, one, size)));
  // They connect, and report to Redis.
  await sleep(1500);
  const usage = await startUsage(redis);
  const counts = { operations: 0, refused: 0, operationsInOutage: 0, refusedInOutage: 0 };
  const startedAt = performance.now();
  const until = (at: number): Promise<void> => sleep(Math.max(0, startedAt + at - performance.now()));
  const outage = one.hasOutage ? size.outage : { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  const ask = async (member: Member | undefined, project: number, isInOutage: boolean): Promise<void> => {
    const isAnswered = await member?.read(project);
    counts.operations += 1;
    if (isInOutage) counts.operationsInOutage += 1;
    if (isAnswered === true) return;
    counts.refused += 1;
    if (isInOutage) counts.refusedInOutage += 1;
  };
  const breaking = one.hasOutage ? breakRedis(redis, usage, outage, until) : undefined;
  const asked: Promise<void>[] = [];
  for (const { at, gateway, project } of planArrivals(size, one.gateways)) {
    await until(at);
    const isInOutage = at >= outage.from * 1000 && at < outage.to * 1000;
    asked.push(ask(members[gateway], project, isInOutage));
  }
  await Promise.all([...asked, breaking]);
  const redisMs = await usage.now();
  const redisBytes = Number(await redis.ask('EVAL', memoryOfAll, '0'));
  const commands = sum(members.map((member) => member.redis?.commands ?? 0));
  const found = sum(members.map((member) => member.answers?.found ?? 0));
  const losses = sum(members.map((member) => member.redis?.losses ?? 0));
  const { calls } = service;
  const mostCalls = mostWithin(calls, size.limit.seconds * 1000);
  return { ...one, ...counts, calls: calls.length, mostCalls, found, commands, losses, redisMs, redisBytes };
}

/** Kills Redis, and starts it again empty. */
async function breakRedis(
  redis: RedisServer,
  usage: Usage,
  { from, to }: FleetSize['outage'],
  until: (at: number) => Promise<void>,
): Promise<void> {
  await until(from * 1000);
  await usage.beforeRestart();
  await redis.kill();
  await until(to * 1000);
  await redis.restart();
}

/** Adds up what each name takes with its value. */
const memoryOfAll = `local sum = 0
for _, name in ipairs(redis.call('KEYS', '*')) do sum = sum + redis.call('MEMORY', 'USAGE', name) end
return sum`;

/** The processor time that Redis has used since the start, in milliseconds. */
interface Usage {
  readonly now: () => Promise<number>;
  /** Keeps what it has used: it counts from zero after a restart. */
  readonly beforeRestart: () => Promise<void>;
}

async function startUsage(redis: RedisServer): Promise<Usage> {
  const read = async (): Promise<number> => {
    const text = String(await redis.ask('INFO', 'cpu'));
    const field = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
    return 1000 * (field('used_cpu_user') + field('used_cpu_sys'));
  };
  let earlier = -(await read());
  return {
    now: async () => earlier + (await read()),
    beforeRestart: async () => void (earlier += await read()),
  };
}

function mostWithin(times: readonly number[], ms: number): number {
  let from = 0;
  let most = 0;
  for (const [index, time] of times.entries()) {
    while ((times[from] ?? time) <= time - ms) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
