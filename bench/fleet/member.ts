/** One gateway of a fleet: the REST side as it is, with its budget, its cache and its connection to Redis. */
import { hash } from 'node:crypto';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import { type Script, SharedRedis } from '../../src/redis.ts';
import { createCallBudget } from '../../src/rest/budget/create-budget.ts';
import { sharedIn } from '../../src/rest/cache/answer-cache.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { bodyRoomLimitsFor } from '../../src/rest/transport/body-room.ts';
import { createUpstream, type Upstream } from '../../src/rest/upstream.ts';
import type { FleetSize, Sharing } from './plan.ts';

/** How long an operation may take, in milliseconds: the gateway's default. */
const operationDeadlineMs = 8000;

const key = 'phx_of_the_whole_fleet';
const keyHash = hash('sha256', key, 'base64url');
const caller: Caller = { key, hash: keyHash, sharingKey: keyHash, queueKey: keyHash };

/** A connection that counts what it sends. */
class CountedRedis extends SharedRedis {
  commands = 0;
  /** Answers that were found there, each of which saved a REST call. */
  found = 0;

  override async ask(...args: Parameters<SharedRedis['ask']>): Promise<unknown> {
    this.commands += 1;
    const answer = await super.ask(...args);
    if (args[0] === 'get' && Buffer.isBuffer(answer)) this.found += 1;
    return answer;
  }

  override run(script: Script, ...args: Parameters<SharedRedis['run']> extends [Script, ...infer Rest] ? Rest : never) {
    this.commands += 1;
    return super.run(script, ...args);
  }
}

/** A gateway of a fleet. */
export class Member implements AsyncDisposable {
  readonly redis: CountedRedis | undefined;
  readonly #upstream: Upstream;

  constructor(url: string, redisUrl: string, { sharing, gateways }: MemberOptions, size: FleetSize) {
    const log = (): void => undefined;
    const redis = sharing === 'none' ? undefined : new CountedRedis({ url: redisUrl, log });
    const windows = { rest: [{ limit: size.limit.calls, ms: size.limit.seconds * 1000 }] };
    const settings = { windows, scope: 'key', share: 100, replicas: gateways } as const;
    const bounds = { operationDeadlineMs, maxInFlight: 64, upstreamUrl: url };
    this.redis = redis;
    this.#upstream = createUpstream(
      {
        ...{ url, connections: 64, maxInFlight: 64, log, eventLoop: new EventLoopYield() },
        bodyRoomLimits: bodyRoomLimitsFor(2 ** 20),
        callBudget: createCallBudget({ ...bounds, settings, redis, log }),
      },
      {
        ttls: { projects: size.fresh, dashboards: size.fresh },
        ...{ staleSeconds: size.stale, maxBytes: 2 ** 24, refreshMs: operationDeadlineMs },
        ...(redis !== undefined && sharing === 'both' && sharedIn(redis, url)),
      },
    );
  }

  /** Reads a project and its dashboards, as one operation; false if the budget did not let it. */
  async read(project: number): Promise<boolean> {
    const epoch = await this.#upstream.epochOf?.(caller, 'normal');
    const deadline = new OperationDeadline(operationDeadlineMs);
    const client = this.#upstream.clientFor(caller, { deadline, calls: new OperationCalls(10), epoch });
    const path = `/api/projects/${project}/`;
    try {
      await Promise.all([
        client.getJson(operations.getProject, path),
        client.getJson(operations.listDashboards, `${path}dashboards/?limit=10`),
      ]);
      return true;
    } catch (error) {
      if (error instanceof UpstreamError && error.code === 'RATE_LIMITED') return false;
      throw error;
    } finally {
      deadline.finish();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#upstream.budget?.close();
    this.redis?.close();
    await this.#upstream.close();
  }
}

/** How a gateway shares, and with how many. */
interface MemberOptions {
  readonly sharing: Sharing;
  readonly gateways: number;
}
