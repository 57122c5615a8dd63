import { type DocumentNode, getOperationAST, type OperationDefinitionNode } from 'graphql';
import { type CursorCodec, type GatewayContext } from '../../src/context.ts';
import { Loaders } from '../../src/loaders/loaders.ts';
import { RestApi } from '../../src/rest/api.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { idText, isObject, type Row } from '../../src/rest/values.ts';
import { unlimitedAnswer } from '../support/answers.ts';
import { notFound, reply } from '../support/replies.ts';
import { type Handler } from '../support/routes.ts';
import type { FailureOf } from './faults.ts';
import { listed, type World } from './world.ts';

/** The upstream's answer to a GET. Throws NOT_FOUND for an object that does not exist. */
export function answerOf(world: World, target: string): unknown {
  if (world.answer !== undefined) return world.answer(target);
  const [path = '', search = ''] = target.split('?');
  const query = new URLSearchParams(search);
  const list = world.lists.get(path);
  if (list !== undefined) {
    const next = world.isWalkedByTime === true && path.endsWith('/events/') ? nextByTime : nextByOffset;
    return (query.has('select') ? selected : pageOf)(path, filtered(list, query), query, next);
  }
  const [, collection = '', id = '', report = ''] =
    /^(\/api\/.*?(?:projects|dashboards|events|plugins)\/)([^/]+)\/(\w+\/)?$/.exec(path) ?? [];
  const rows = world.lists.get(collection);
  if (rows !== undefined && id === 'unused') return unusedOf(rows);
  if (rows !== undefined && reports.has(id)) return { report: id, query: search };
  const isCurrent = id === '@current' && collection === '/api/projects/';
  const row = isCurrent ? rows?.[0] : rows?.find((one) => idText(one['id']) === id);
  if (row === undefined) throw new UpstreamError('NOT_FOUND', { status: 404 });
  return report === '' ? row : { 'index.ts': `source of ${idText(row['id'])}` };
}

/** The ids of some plugins, no more than the smallest page. */
function unusedOf(rows: readonly Row[]): unknown {
  return rows
    .filter((_row, index) => index % 3 === 1)
    .map(({ id }) => id)
    .slice(0, 3);
}

const reports: ReadonlySet<string> = new Set(['values', 'activity', 'exports_unsubscribe_configs', 'repository']);

function filtered(list: readonly Row[], query: URLSearchParams): readonly Row[] {
  const [event, before] = [query.get('event'), query.get('before')];
  return list.filter(
    (row) =>
      (event === null || row['event'] === event) &&
      (before === null || Date.parse(String(row['timestamp'])) < Date.parse(before)),
  );
}

/** The query of the page behind one that ends before row `end`. */
type NextQuery = (rows: readonly Row[], query: URLSearchParams, end: number) => string;

const nextByOffset: NextQuery = (_rows, query, end) => `limit=${query.get('limit')}&offset=${end}`;

/** The hosted service keeps the offset of the page before. */
const nextByTime: NextQuery = (rows, query) => {
  const next = new URLSearchParams(query);
  next.set('before', String(rows.at(-1)?.['timestamp']));
  return next.toString();
};

function selected(path: string, list: readonly Row[], query: URLSearchParams, nextQuery: NextQuery): unknown {
  const { next, rows } = windowOf(path, list, query, nextQuery);
  return { next, results: rows.map((row) => [row['event']]) };
}

function pageOf(path: string, list: readonly Row[], query: URLSearchParams, nextQuery: NextQuery): unknown {
  const { next, rows } = windowOf(path, list, query, nextQuery);
  return {
    ...(!path.endsWith('/events/') && { count: list.length }),
    next,
    results: rows.map((row) => listed(path, row)),
  };
}

function windowOf(
  path: string,
  list: readonly Row[],
  query: URLSearchParams,
  nextQuery: NextQuery,
): { readonly next: string | null; readonly rows: readonly Row[] } {
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset') ?? 0)];
  const end = offset + limit;
  const rows = list.slice(offset, end);
  const next = end < list.length ? `https://upstream.example${path}?${nextQuery(rows, query, end)}` : null;
  return { next, rows };
}

/** When an answer comes. */
export type Pace =
  // Everything that was asked for by then comes at once.
  | 'in step'
  // The same one after the other, by their targets and not by when they were asked for; what it leads to comes after all of it.
  | 'in turn'
  | 'in reverse'
  // Each answer takes its own time.
  | 'at random';

/** An upstream in the same process: no sockets, but answers that come later. */
export class Upstream {
  readonly calls: string[] = [];
  readonly #world: World;
  readonly #pace: Pace;
  readonly #random: () => number;
  /** Reads in flight under one key are one, as in src/rest/single-flight.ts. */
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #waiting: { readonly target: string; readonly go: () => void }[] = [];
  #isAnswering = false;
  #rounds = 0;

  readonly #failureOf: FailureOf;

  constructor(world: World, pace: Pace, random: () => number, failureOf: FailureOf = () => undefined) {
    this.#world = world;
    this.#pace = pace;
    this.#random = random;
    this.#failureOf = failureOf;
  }

  readonly client: RestClient = {
    read: (_operation, target, format) =>
      format === 'csv' ? this.#get(target).then((value) => JSON.stringify(value)) : this.#get(target),
    write: async ({ method }, target, body) => {
      this.calls.push(`${method} ${target} ${JSON.stringify(body)}`);
      await this.#arrival(target);
      this.#refuse(target);
      return method === 'DELETE' ? undefined : { ...(isObject(body) && body), id: 77, name: 'written' };
    },
  };

  #get(target: string): Promise<unknown> {
    const running = this.#inFlight.get(target);
    if (running !== undefined) return running;
    this.calls.push(target);
    const answer = this.#arrival(target).then(() => {
      this.#refuse(target);
      return answerOf(this.#world, target);
    });
    this.#inFlight.set(target, answer);
    const forget = (): unknown => this.#inFlight.delete(target);
    answer.then(forget, forget);
    return answer;
  }

  #refuse(target: string): void {
    const failure = this.#failureOf(target.split('?')[0] ?? '');
    if (failure !== undefined) throw failure;
  }

  #arrival(target: string): Promise<void> {
    if (this.#pace === 'at random') return waitTurns(1 + Math.floor(this.#random() * 5));
    return new Promise((resolve) => {
      if (this.#waiting.length === 0 && !this.#isAnswering) setImmediate(() => void this.#answerAll());
      this.#waiting.push({ target, go: resolve });
    });
  }

  /** The number of rounds: each answers all calls that wait. */
  get rounds(): number {
    return this.#rounds;
  }

  async #answerAll(): Promise<void> {
    this.#rounds += 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#pace === 'in step') for (const { go } of waiting) go();
    else await this.#answerInTurn(waiting.toSorted((one, other) => (one.target < other.target ? -1 : 1)));
  }

  async #answerInTurn(waiting: readonly { readonly target: string; readonly go: () => void }[]): Promise<void> {
    this.#isAnswering = true;
    for (const { go } of this.#pace === 'in turn' ? waiting : waiting.toReversed()) {
      go();
      await waitTurns(1);
    }
    this.#isAnswering = false;
    if (this.#waiting.length > 0) setImmediate(() => void this.#answerAll());
  }
}

/** The rows of a page, as the upstream sent it. */
export function resultsOf(page: unknown): readonly Row[] {
  if (!isObject(page) || !Array.isArray(page['results'])) throw new Error('no page');
  return page['results'].filter(isObject);
}

/** Serves the answers of `answer` over HTTP. */
export function handlerOf(answer: (target: string) => unknown): Handler {
  return ({ target }) => {
    try {
      const isCsv = target.includes('format=csv');
      const headers = { 'content-type': isCsv ? 'text/csv' : 'application/json' };
      return reply({ headers, body: JSON.stringify(answer(target)) });
    } catch (error) {
      if (error instanceof UpstreamError) return notFound;
      throw error;
    }
  };
}

/** The context of an operation over such an upstream, with no limit on its answer. */
export function contextOf(client: RestClient, cursors: CursorCodec, maxPageSize: number): GatewayContext {
  const rest = new RestApi(client);
  const loaders = new Loaders(rest, maxPageSize, { count: 0 });
  return { rest, loaders, cursors, maxPageSize, answerCounter: unlimitedAnswer() };
}

/** The only operation of a document. */
export function operationIn(document: DocumentNode): OperationDefinitionNode {
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('no operation');
  return operation;
}

/** Lets so many turns of the event loop pass. */
export async function waitTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}
