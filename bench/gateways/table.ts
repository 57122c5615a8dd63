/** The gateways that are measured side by side. */
import { fileURLToPath } from 'node:url';
import { hiveQuestions } from '../scenarios/hive.ts';
import { grafastQuestions, listQuestions, tailcallQuestions } from '../scenarios/lists.ts';
import type { Questions } from '../scenarios/names.ts';
import { ourQuestions } from '../scenarios/ours.ts';

/** One gateway: how it is started, and how it is asked. */
export interface GatewayEntry {
  readonly title: string;
  /** Where it is started; a peer's folder has a package.json of its own. */
  readonly folder: string;
  /** The module that Node runs there; if absent, what `npm start` runs. It takes its port and upstream from PORT and UPSTREAM. */
  readonly module?: string;
  /** Environment beside PORT and UPSTREAM. */
  readonly environment: (upstreamUrl: string) => Readonly<Record<string, string>>;
  /** The path of its GraphQL endpoint. */
  readonly path: string;
  readonly questions: Questions;
  /** True if its lists page by cursors, which have to be read first. */
  readonly cursors: boolean;
}

/** The folder of this repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Ours, as `npm start` runs it in production: every limit on, logs at `info`, metrics on. */
export const ours: GatewayEntry = {
  title: 'this gateway',
  folder: root,
  environment: (upstreamUrl) => ({ UPSTREAM_URL: upstreamUrl }),
  path: '/graphql',
  questions: ourQuestions,
  cursors: true,
};

/** Every gateway by name, in the order of the tables; `floor` is what the others are measured by. */
export const gateways = {
  floor: peer('floor', 'floor: node:http + undici by hand', listQuestions),
  ours,
  mercurius: peer('mercurius', 'Mercurius with its compiler', listQuestions),
  tailcall: peer('tailcall', 'Tailcall', tailcallQuestions),
  grafast: peer('grafast', 'Grafast', grafastQuestions),
  yoga: peer('yoga', 'GraphQL Yoga', listQuestions),
  apollo: peer('apollo', 'Apollo Server', listQuestions, '/'),
  hive: peer('hive', 'Hive Gateway', hiveQuestions),
} satisfies Record<string, GatewayEntry>;

/** Name of a gateway. */
export type GatewayName = keyof typeof gateways;

/** All names, in the order of the tables. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of an object literal
export const gatewayNames = Object.keys(gateways) as readonly GatewayName[];

function peer(name: string, title: string, questions: Questions, path = '/graphql'): GatewayEntry {
  const environment = (): Record<string, string> => ({});
  return {
    title,
    folder: `${root}bench/peers/${name}`,
    module: 'server.js',
    environment,
    path,
    questions,
    cursors: false,
  };
}
