/** One gateway of a fleet: the REST side as it is, with its budget, its cache and its connection to Redis. */
import { hash } from 'node:crypto';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import { SharedRedis } from '../../src/redis.ts';
import { BudgetCounts } from '../../src/rest/budget/budget-counts.ts';
import { CallBudget } from '../../src/rest/budget/call-budget.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import { RedisAnswers } from '../../src/rest/cache/redis-answers.ts';
import { RedisEpochs } from '../../src/rest/cache/redis-epochs.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { bodyRoomLimitsFor } from '../../src/rest/transport/body-room.ts';
import { createUpstream, type Upstream } from '../../src/rest/upstream.ts';
import type { FleetSize, Sharing } from './plan.ts';

/** The longest time that an operation may take, in milliseconds: the gateway's default. */
const operationDeadlineMs = 8000;

/** The most REST calls that a gateway has under way at a time. */
const maxInFlight = 64;

const key = 'phx_of_the_whole_fleet';
const sharingKey = hash('sha256', key, 'base64url');
const caller: Caller = { key, sharingKey, queueKey: sharingKey };

/** A connection that counts what it sends. */
class CountedRedis extends SharedRedis {
  commands = 0;
  /** The number of times that the connection was lost, or Redis did not answer in time. */
  losses = 0;

  constructor(url: string) {
    super(url, {}, (level) => void (this.losses += level === 'warn' ? 1 : 0));
  }

  override ask(...args: Parameters<SharedRedis['ask']>): Promise<unknown> {
    this.commands += 1;
    return super.ask(...args);
  }

  override run(...args: Parameters<SharedRedis['run']>): Promise<unknown> {
    this.commands += 1;
    return super.run(...args);
  }
}

/** Shared answers that are counted when they save a call: when another gateway has read them, and they are still fresh. */
class CountedAnswers extends RedisAnswers {
  readonly #freshMs: number;
  found = 0;

  constructor(redis: SharedRedis, url: string, freshMs: number) {
    super(redis, url);
    this.#freshMs = freshMs;
  }

  override async find(...args: Parameters<RedisAnswers['find']>): ReturnType<RedisAnswers['find']> {
    const answer = await super.find(...args);
    if (answer !== undefined && answer.ageMs < this.#freshMs) this.found += 1;
    return answer;
  }
}

/** A gateway of a fleet. */
export class Member implements AsyncDisposable {
  readonly redis: CountedRedis | undefined;
  readonly answers: CountedAnswers | undefined;
  readonly #upstream: Upstream;

  constructor(url: string, redisUrl: string, { sharing, gateways }: MemberOptions, size: FleetSize) {
    const log = (): void => undefined;
    const redis = sharing === 'none' ? undefined : new CountedRedis(redisUrl);
    const windows = { rest: [{ limit: size.limit.calls, ms: size.limit.seconds * 1000 }] };
    const settings = { windows, scope: 'key', share: 100, replicas: gateways } as const;
    const ledger = createLedger({ settings, operationDeadlineMs, upstreamUrl: url, redis, log });
    const usualMs = (): number => this.#upstream.resources.limiter.meanMs;
    this.redis = redis;
    this.answers =
      sharing === 'both' && redis !== undefined ? new CountedAnswers(redis, url, size.fresh * 1000) : undefined;
    this.#upstream = createUpstream(
      {
        ...{ url, connections: maxInFlight, maxInFlight, log, eventLoop: new EventLoopYield() },
        bodyRoomLimits: bodyRoomLimitsFor(2 ** 20),
        limits: new CallBudget({ ...settings, ledger, counts: new BudgetCounts(), maxInFlight, usualMs }),
        epochs: redis && this.answers && new RedisEpochs(redis, url, log),
      },
      {
        ttls: { projects: size.fresh, dashboards: size.fresh },
        ...{ staleSeconds: size.stale, maxBytes: 2 ** 24, refreshMs: operationDeadlineMs },
        remote: this.answers,
      },
    );
  }

  /** Reads a project and its dashboards, as one operation; false if the budget did not let it, or not in time. */
  async read(project: number): Promise<boolean> {
    const epoch = await this.#upstream.epochOf(caller, 'normal');
    const deadline = new OperationDeadline(operationDeadlineMs);
    const client = this.#upstream.clientFor({ caller, deadline, calls: new OperationCalls(10), epoch });
    const path = `/api/projects/${project}/`;
    try {
      await Promise.all([
        client.read(operations.getProject, path),
        client.read(operations.listDashboards, `${path}dashboards/?limit=10`),
      ]);
      return true;
    } catch (error) {
      if (error instanceof UpstreamError) return false;
      throw error;
    } finally {
      deadline.finish();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#upstream.close();
    this.redis?.close();
  }
}

/** The parts that a gateway shares with others, and the number of gateways. */
interface MemberOptions {
  readonly sharing: Sharing;
  readonly gateways: number;
}
