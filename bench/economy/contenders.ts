/** The contenders: each stands between the team and the service in turn. */
import { startGateway } from '../gateways/running.ts';
import { type GatewayEntry, gateways } from '../gateways/table.ts';
import { type Client, graphqlClient, restClient } from './clients.ts';
import { hiveSchema, listSchema, ourSchema, type Schema } from './pages.ts';
import {
  compressed,
  compressedLifetimes,
  compressedRates,
  deadlineMs,
  lifetimes,
  speed,
  staleSeconds,
} from './scale.ts';
import { teamKey } from './service.ts';

/** One way to the service. */
export interface Contender {
  readonly title: string;
  /** Starts it over an upstream. */
  readonly start: (upstreamUrl: string) => Promise<Client>;
}

const budget = { UPSTREAM_BUDGET: compressedRates };
const cache = { CACHE_TTL: compressedLifetimes, CACHE_STALE: String(staleSeconds / speed) };

/** The lifetimes of the caches of peers, in real milliseconds by noun, as JSON. */
const peerLifetimes = JSON.stringify(
  Object.fromEntries(Object.entries(lifetimes).map(([noun, seconds]) => [noun, compressed(seconds * 1000)])),
);

/** All of them, in the order of the table. */
export const contenders = {
  direct: {
    title: 'no gateway: a REST client, one call for each fact',
    start: async (url) => restClient(url, teamKey),
  },
  neither: ours('this gateway, with neither', {}),
  budget: ours('this gateway, with the budget', budget),
  cache: ours('this gateway, with the cache', cache),
  both: ours('**this gateway, with both**', { ...budget, ...cache }),
  tailcall: peer('Tailcall with its cache', gateways.tailcall, listSchema),
  hive: peer('Hive Gateway with its response cache', gateways.hive, hiveSchema),
} as const satisfies Record<string, Contender>;

/** Name of a contender. */
export type ContenderName = keyof typeof contenders;

/** All names, in the order of the table. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of an object literal
export const contenderNames = Object.keys(contenders) as readonly ContenderName[];

function ours(title: string, settings: Readonly<Record<string, string>>): Contender {
  const environment = { ...settings, OPERATION_DEADLINE_MS: String(compressed(deadlineMs)), LOG_LEVEL: 'warn' };
  return { title, start: (url) => behind(gateways.ours, url, ourSchema, environment) };
}

function peer(title: string, entry: GatewayEntry, schema: Schema): Contender {
  return { title, start: (url) => behind(entry, url, schema, { CACHE_MS: peerLifetimes }) };
}

async function behind(
  entry: GatewayEntry,
  upstreamUrl: string,
  schema: Schema,
  environment: Readonly<Record<string, string>>,
): Promise<Client> {
  // The first questions of the other benchmark are left out, because they would cost calls.
  const silent: GatewayEntry = { ...entry, cursors: false, questions: {} };
  const gateway = await startGateway(silent, { upstreamUrl, environment });
  const client = graphqlClient(gateway.url, teamKey, schema);
  return {
    ...client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}
