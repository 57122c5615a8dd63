import type { GraphQLSchema } from 'graphql';
import { createTokenAuth } from './auth/authenticator.ts';
import { checkRoleDocuments } from './auth/entry-rights.ts';
import { type CursorCodec, createContexts } from './context.ts';
import { EventLoopYield } from './event-loop-yield.ts';
import { createCursorCodec } from './graphql/cursors.ts';
import { createHandle, type Handle, type HandleGraphQL } from './http/handle.ts';
import { createRequestRoom } from './http/request.ts';
import type { SavedCalls } from './loaders/window-loader.ts';
import type { Log } from './log.ts';
import { answerRoomBytes, MemoryRoom, processBytes } from './memory.ts';
import { AnswerLimits } from './operation/answer-limits.ts';
import { Costs, type ToolOf } from './operation/cost.ts';
import { createPrepare } from './operation/document.ts';
import type { Schemas } from './operation/execute.ts';
import type { Tracing } from './operation/operation-run.ts';
import type { DocumentSet } from './operation/persisted/document-set.ts';
import {
  createPersisted,
  type Persisted,
  type PersistedOptions,
  type PersistedSettings,
} from './operation/persisted/persisted.ts';
import { createRunOperation, type OperationsOptions, type RunOperation } from './operation/pipeline.ts';
import { SharedOperations } from './operation/shared-operations.ts';
import { type SubscriptionSettings, Subscriptions } from './operation/subscriptions.ts';
import { connectRedis, type SharedRedis } from './redis.ts';
import { BudgetCounts } from './rest/budget/budget-counts.ts';
import { CallBudget, type CallBudgetOptions } from './rest/budget/call-budget.ts';
import { createLedger } from './rest/budget/create-ledger.ts';
import type { CacheOptions } from './rest/cache/answer-cache.ts';
import { createPurge, type Purge } from './rest/cache/operator-purge.ts';
import { RedisAnswers } from './rest/cache/redis-answers.ts';
import { RedisEpochs } from './rest/cache/redis-epochs.ts';
import { DriftWatch } from './rest/drift/drift-watch.ts';
import type { Ledger } from './rest/ledger.ts';
import type { Epochs } from './rest/read-your-writes.ts';
import type { UpstreamOptions, UpstreamResources } from './rest/resilience/upstream-resources.ts';
import { isOutdated, type Tenants } from './rest/tenants.ts';
import { bodyRoomLimitsFor } from './rest/transport/body-room.ts';
import { createUpstream, type Upstream } from './rest/upstream.ts';
import { createSchema, createSchemas } from './schema.ts';
import type { Config } from './settings/config.ts';
import { currentRoute, expiriesOf, followTls } from './settings/route.ts';
import type { SharedFiles } from './settings/shared-files.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { createCallbacks } from './telemetry/operation-log.ts';

/** The configuration and the collaborators of a gateway. Times in milliseconds, sizes in rows or bytes. */
export interface GatewayOptions
  extends Omit<Config, 'auth' | 'cache' | 'cursorSecret' | 'live' | 'persisted' | 'upstreamUrl'>,
    SharedFiles {
  readonly upstreamUrl: string;
  readonly cursorSecret: string;
  /** The authentication of requests, if the gateway holds the keys; by default callers send their own keys. */
  readonly auth?: Omit<NonNullable<Config['auth']>, 'tenantsPath'> | undefined;
  /** The configuration of the cache of REST answers; by default nothing is cached. */
  readonly cache?: Omit<CacheOptions, 'refreshMs' | 'remote'> | undefined;
  /** The epochs of keys, if other processes renew them, too. By default, only this process renews them. */
  readonly epochs?: Epochs | undefined;
  /**
   * Memory for answers that are being made or that clients have not taken, in bytes; by default a share of the heap.
   */
  readonly answerRoomBytes?: number | undefined;
  /** The API key or token that GraphiQL starts with; only the embedded workspace has one. */
  readonly demoKey?: string | undefined;
  readonly live?: SubscriptionSettings | undefined;
  /** Persisted documents; by default none are listed, and clients may register theirs. */
  readonly persisted?: PersistedSettings;
  /** The ledger of another process for the calls of the `budget`. By default, this process or Redis counts calls. */
  readonly ledger?: Ledger | undefined;
  /** Undefined if operations are not traced. */
  readonly tracing?: Tracing | undefined;
  readonly report: (error: unknown) => void;
  readonly log: Log;
}

/** A gateway without a socket of its own. */
export interface Gateway {
  readonly handle: HandleGraphQL;
  /** The handlers of all paths except `/graphql`. */
  readonly handlers: ReadonlyMap<string, Handle>;
  /**
   * Reads certificates and the manifests of persisted documents again, and fetches the keys that verify tokens. A file
   * that cannot be used is logged, and changes nothing.
   */
  readonly reload: () => Promise<void>;
  /** Disconnects the clients of all subscriptions and refuses new ones, so that they connect to another gateway. */
  readonly disconnectStreams: () => void;
  readonly metrics: Metrics;
  readonly purge: Purge;
  /** The resources of calls to the upstream. The check of the upstream at the start and `/readyz` use them. */
  readonly resources: UpstreamResources;
  /** Closes the connections to the upstream; calls in flight fail. */
  readonly close: () => void;
}

/** The most memory that remembered operations may take, in bytes. */
const preparedBytes = 48 * 2 ** 20;

/**
 * Composes a gateway. Until it is asked something, it connects only to Redis and to the identity provider. Rejects with
 * a ConfigError if persisted documents cannot be used.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { auth, log, upstreamRoute: route, upstreamTlsFiles: files } = options;
  const schema = createSchema(options.live !== undefined);
  const agents =
    options.mcp &&
    (await import('./mcp/mcp.ts')).createAgents(options.mcp, { ...options, schema }, options.auth?.rules.issuer);
  const eventLoop = new EventLoopYield();
  const redis = connectRedis(options.persisted, log);
  const budgetCounts = new BudgetCounts();
  const budget = budgetOf(options, redis, { counts: budgetCounts, usualMs: () => resources.limiter.meanMs });
  const caching = cacheOptionsOf(options, redis);
  const memory = new MemoryRoom(processBytes(), { onDisconnect: () => metrics.countRefused('slowReader') });
  // The cache claims its part of the memory at the start.
  memory.claim().insist(caching?.maxBytes ?? 0);
  const upstreamOptions = { ...upstreamOptionsOf(options, redis), memory, eventLoop, limits: budget };
  const upstream = createUpstream({ ...upstreamOptions, onRefused: (one) => budgetCounts.refused(one) }, caching);
  const { resources } = upstream;
  const cursors = createCursorCodec(options.cursorSecret);
  const schemas = createSchemas(schema, options.incremental);
  const tenants = (): Tenants => options.tenants?.current() ?? new Map();
  const check = (set: DocumentSet): void => {
    agents?.check(set);
    checkRoleDocuments(tenants(), () => set.byId.values());
  };
  const persisted = await createPersistedDocuments(options, schemas, { redis, check, remote: options.manifests });
  const authenticator =
    auth &&
    createTokenAuth(auth.keySet, currentRoute(auth.route, files), {
      rules: { ...auth.rules, agentAudience: agents?.resource?.url },
      tenants,
      log,
    });
  const tls = await followTls(files, route, log);
  if (tls !== undefined) resources.transport.reroute(tls.current());
  tls?.onChange((next) => resources.transport.reroute(next));
  const shared = new SharedOperations();
  const saved: SavedCalls = { count: 0 };
  const { cache } = upstream;
  const sources = {
    ...{ resources, heldKeys: upstream.heldKeys, budgetCounts, counting: budget?.counting },
    documents: persisted.counts,
    ...{ shared, saved, cache, redis },
    authentications: authenticator?.counts,
    expiries: tls && (() => expiriesOf(tls.current())),
    reloads: {
      ...{ documents: persisted.list?.reloads, certificates: tls?.reloads },
      ...{ keys: authenticator?.keySet.reloads, tenants: options.tenants?.reloads },
    },
  };
  const metrics = createMetrics(sources, options.maxUpstreamCalls);
  const callbacks = createCallbacks(metrics, options);
  const toolOf = agents?.toolOf(persisted.documents);
  const made = { schema, upstream, cursors, persisted, shared, eventLoop, saved, callbacks, toolOf, memory };
  const { run, live } = createOperations(options, made);
  if (live !== undefined) metrics.measureStreams(live);
  options.tenants?.onChange((next) =>
    live?.streams.notifyOutdated(({ tenant }) => tenant !== undefined && isOutdated(tenant, next)),
  );
  const edge = {
    ...options,
    run,
    bodyRoom: createRequestRoom(options.bodyLimits.bytes, memory),
    authenticator,
    report: callbacks.report,
    countRefused: metrics.countRefused,
  };
  return {
    handle: createHandle(edge),
    handlers: agents?.serve({ ...edge, onCall: metrics.measureTools() }, persisted.documents) ?? new Map(),
    reload: async () =>
      void (await Promise.all([persisted.list?.reload(), tls?.reload(), authenticator?.keySet.renew()])),
    disconnectStreams: () => live?.streams.disconnectAll(),
    metrics,
    purge: createPurge(cache && upstream.resources.epochs, tenants),
    resources,
    close: () => {
      for (const one of [persisted.list, tls, authenticator?.keySet, budget, upstream, redis]) one?.close();
    },
  };
}

/** Collaborators of operations, beside the settings. */
interface Collaborators extends Pick<OperationsOptions, 'shared' | 'eventLoop'> {
  readonly schema: GraphQLSchema;
  readonly upstream: Upstream;
  readonly memory: MemoryRoom;
  readonly cursors: CursorCodec;
  readonly persisted: Persisted;
  readonly toolOf: ToolOf | undefined;
  readonly saved: SavedCalls;
  readonly callbacks: ReturnType<typeof createCallbacks>;
}

/** Makes the function that runs every operation, and the subscriptions if they are on. */
function createOperations(
  options: GatewayOptions,
  made: Collaborators,
): { readonly run: RunOperation; readonly live: Subscriptions | undefined } {
  const { schema, upstream, cursors, persisted, shared, eventLoop, saved, callbacks, toolOf, memory } = made;
  const answerBytes = options.answerRoomBytes ?? answerRoomBytes(options.maxAnswerBytes);
  const room = new MemoryRoom(answerBytes, { within: memory });
  const createContext = createContexts({ ...options, cursors, upstream, room, saved });
  const answerLimits = new AnswerLimits({ ...options, ...callbacks, room });
  const { cache, keyFaultOf } = upstream;
  const ofStreams = { schema, createContext, answerLimits, eventLoop, memory, upstream };
  const subscriptions = options.live && new Subscriptions(options.live, { ...options, ...callbacks, ...ofStreams });
  const run = createRunOperation({
    resolve: persisted.resolve,
    getMaxAge: options.persisted?.getMaxAge ?? 0,
    createContext,
    subscriptions,
    argumentBytes: options.documentLimits.argumentBytes,
    costs: new Costs({ schema, cursors, ...options, isCaching: options.cache !== undefined, toolOf, keyFaultOf }),
    upstream,
    wholeAnswers: cache?.whole,
    now: cache?.now ?? (() => performance.now()),
    shared,
    operationDeadlineMs: options.operationDeadlineMs,
    eventLoop,
    answerLimits,
    maxErrors: options.maxErrors,
    tracing: options.tracing,
    ...callbacks,
  });
  return { run, live: subscriptions };
}

function budgetOf(
  options: GatewayOptions,
  redis: SharedRedis | undefined,
  made: Pick<CallBudgetOptions, 'counts' | 'usualMs'>,
): CallBudget | undefined {
  const { budget: settings, maxUpstreamInFlight: maxInFlight } = options;
  if (settings === undefined) return undefined;
  const ledger = options.ledger ?? createLedger({ ...options, settings, redis });
  return new CallBudget({ ...settings, ledger, maxInFlight, ...made });
}

/** The ledger that the first process keeps for its workers, with its Redis. Neither is made if calls are not limited. */
export function createSharedLedger(
  { budget: settings, persisted, operationDeadlineMs }: Config,
  upstreamUrl: string,
  log: Log,
): { readonly ledger?: Ledger; readonly redis?: SharedRedis | undefined } {
  if (settings === undefined) return {};
  const redis = connectRedis(persisted, log);
  return { redis, ledger: createLedger({ settings, operationDeadlineMs, upstreamUrl, redis, log }) };
}

/**
 * The options of the cache of REST answers; undefined if there is none. A refresh may take as long as an operation.
 * Cached answers take at most half of the memory of the process.
 */
function cacheOptionsOf(
  { cache, upstreamUrl, operationDeadlineMs: refreshMs }: GatewayOptions,
  redis: SharedRedis | undefined,
): CacheOptions | undefined {
  const remote = redis && new RedisAnswers(redis, upstreamUrl);
  return cache && { ...cache, maxBytes: Math.min(cache.maxBytes, processBytes() / 2), remote, refreshMs };
}

function createPersistedDocuments(
  options: GatewayOptions,
  schemas: Schemas,
  shared: Pick<PersistedOptions, 'redis' | 'check' | 'remote'>,
): Promise<Persisted> {
  const { introspection, documentLimits: limits, log } = options;
  const prepare = createPrepare({ schemas, preparedBytes, limits, introspection });
  return createPersisted({ ...options.persisted, schemas, introspection, prepare, ...shared, log });
}

function upstreamOptionsOf(
  options: GatewayOptions,
  redis: SharedRedis | undefined,
): Omit<UpstreamOptions, 'eventLoop'> {
  return {
    url: options.upstreamUrl,
    route: options.upstreamRoute,
    connections: options.upstreamConnections,
    maxInFlight: options.maxUpstreamInFlight,
    bodyRoomLimits: bodyRoomLimitsFor(options.maxAnswerBytes),
    drift: options.driftSampleRate === 0 ? undefined : new DriftWatch(options.driftSampleRate, options.log),
    // If the gateways have one cache of answers in Redis, they must also have the same epochs.
    epochs: redis && options.cache ? new RedisEpochs(redis, options.upstreamUrl, options.log) : options.epochs,
    log: options.log,
  };
}
