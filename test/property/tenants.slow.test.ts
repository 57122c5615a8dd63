import { assert, asyncProperty, gen } from 'fast-check';
import { expect, test } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { type Reach, reachesTarget } from '../../src/rest/reach.ts';
import { idText, isObject } from '../../src/rest/values.ts';
import { createSchema } from '../../src/schema.ts';
import { cacheSettings } from '../support/cache.ts';
import { inForm, measured, seedOf } from '../support/form.ts';
import type { Answer, GraphQLFailure } from '../support/gateway.ts';
import { together } from '../support/load.ts';
import { createFolder, type Folder } from '../support/persisted.ts';
import { notFound, reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { type Entries, type Entry, startTenants, type TenantGateway } from '../support/tenants.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { forgedOperation, reachesNamed, writeAnswer } from './forged.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { type Asked, listed, type Rights, refusals, rightsOf, rolesOf, withRoles } from './tenant-roles.ts';
import { answerOf } from './upstream.ts';
import { realOrganizationIds, type World, worldOf } from './world.ts';

/** `TENANT_CASES=100 TENANT_SEED=1 npx vitest run test/property/tenants` for a long run; each case is 200 operations. */
const numRuns = Number(process.env['TENANT_CASES'] ?? inForm(2, 100));
const seed = seedOf('TENANT_SEED');
const operationsOfCase = 200;

const schema = createSchema();
const cursorSecret = 'secret of the properties';
const cursors = createCursorCodec(cursorSecret);
const maxPageSize = 10;
const limits = { cursorSecret, maxPageSize, maxUpstreamCalls: 5000, operationDeadlineMs: 60_000 };

const [organization = '', foreign = ''] = realOrganizationIds;

/** The rights of two tenants over one key: a file of tenants for each reload. */
const limited: readonly Entries[] = [
  {
    acme: { key: 'one', projects: ['1'], organizations: [organization] },
    globex: { key: 'one', projects: ['3', '2'], organizations: [foreign] },
  },
  {
    acme: { key: 'one', projects: ['2', '1'], organizations: [organization], mutations: true },
    globex: { key: 'one', projects: ['3'], organizations: [foreign], mutations: true },
  },
  {
    acme: { key: 'one', projects: [], organizations: [foreign] },
    globex: { key: 'one', projects: ['1', '2', '3'], organizations: [organization, foreign] },
  },
  { acme: { key: 'one', projects: ['1', '3'], mutations: ['updateProject'] }, globex: { key: 'one' } },
];

/** Two tenants with a key each, whose reach reloads limit, widen, and swap. */
const apart: readonly Entries[] = [
  { acme: { key: 'one', mutations: true }, globex: { key: 'two', mutations: true } },
  {
    acme: { key: 'one', projects: ['1'], organizations: [organization], mutations: true },
    globex: { key: 'two', projects: ['2', '3'], mutations: ['updateProject'] },
  },
  {
    acme: { key: 'one', projects: ['3', '1', '2'], organizations: [organization, foreign] },
    globex: { key: 'two', projects: [], organizations: [foreign] },
  },
  { acme: { key: 'two' }, globex: { key: 'one', projects: ['1'], mutations: true } },
  { acme: { key: 'one', mutations: true }, globex: { key: 'two', projects: ['1', '2'] } },
];

/** The worlds of the upstream, by API key. */
type Worlds = Readonly<Record<string, World>>;

/** Answers from a world; if a reach is given, as if nothing else were there. */
function answering(worldFor: (key: string) => World, reach?: () => Reach | undefined): Handler {
  return ({ target, path, method, headers, body: sent }) => {
    const world = worldFor(headers.authorization?.slice('Bearer '.length) ?? '');
    const within = reach?.();
    if (!reachesTarget(within, method, target)) return notFound;
    try {
      const isRead = method === 'GET';
      const answer = isRead
        ? onlyWithin(within, path, answerOf(world, target))
        : writeAnswer(world, path, sent, within);
      const body = JSON.stringify(answer);
      return reply({ body, headers: { 'content-type': path.includes('csv') ? 'text/csv' : 'application/json' } });
    } catch (error) {
      if (error instanceof UpstreamError) return notFound;
      throw error;
    }
  };
}

/** A page of projects without those that are out of reach. */
function onlyWithin(reach: Reach | undefined, path: string, body: unknown): unknown {
  if (reach === undefined || path !== '/api/projects/' || !isObject(body) || !Array.isArray(body['results']))
    return body;
  const results: unknown[] = body['results'];
  return { ...body, results: results.filter((row) => isObject(row) && reach.projects.has(idText(row['id']) ?? '')) };
}

interface Question extends Asked {
  readonly tenant: string;
}

/** An answer as a client sees it, with its errors sorted: two runs may differ in their order only. */
function seen({ data, errors = [] }: Answer): string {
  return JSON.stringify({ data: data as unknown, errors: errors.map(seenError).toSorted() });
}

function seenError({ message, path, extensions }: GraphQLFailure): string {
  return JSON.stringify({ message, path, extensions });
}

function seenRefusal(message: string): string {
  return JSON.stringify({ errors: [seenError({ message, extensions: { code: 'FORBIDDEN' } })] });
}

function questionOf(random: Random, world: World): Question {
  return { tenant: random.pick(['acme', 'globex']), roles: rolesOf(random), query: queryOf(random, world) };
}

function queryOf(random: Random, world: World): string {
  if (random.once(4)) return forgedOperation(random, schema);
  if (random.once(4)) return random.pick(Object.values(listed));
  if (random.once(10)) {
    const id = random.pick(['1', '2', '3']);
    return `mutation { updateProject(input: { id: ${id}, name: "x" }) { project { name } } }`;
  }
  return operationOf({ random, world, schema, cursors, maxPageSize, depth: 4, width: 3, absent: true });
}

/** A trace id that tells the operation whose calls carry it. */
function traceOf(index: number): string {
  return `00-${(index + 1).toString(16).padStart(32, '0')}-00000000000000ab-01`;
}

function reachOf({ projects, organizations }: Entry): Reach | undefined {
  if (projects === undefined && organizations === undefined) return undefined;
  return { projects: new Set(projects), organizations: new Set(organizations) };
}

/** Asks everything at once, while the entries of tenants change; what is wrong with an answer or a call, if anything is. */
class Case {
  readonly #generations: readonly Entries[];
  readonly #gateway: TenantGateway;
  readonly #alone: TenantGateway;
  readonly #setAlone: (reach: Reach | undefined) => void;
  #generation = 0;

  constructor(
    generations: readonly Entries[],
    gateway: TenantGateway,
    alone: TenantGateway,
    setAlone: (reach: Reach | undefined) => void,
  ) {
    this.#generations = generations;
    this.#gateway = gateway;
    this.#alone = alone;
    this.#setAlone = setAlone;
  }

  entriesAt(generation: number): Entries {
    return this.#generations[generation % this.#generations.length] ?? {};
  }

  /** The answers, each with the generations in which it may have begun. */
  ask(
    questions: readonly Question[],
    reloads: ReadonlySet<number>,
  ): Promise<readonly { answer: Answer; from: number; to: number }[]> {
    return together(questions.length, 40, async (index) => {
      const { tenant, roles, query } = questions[index] ?? { tenant: '', roles: [], query: '' };
      if (reloads.has(index)) this.reload();
      const from = this.#generation;
      const answer = await this.#gateway.askAs([tenant, ...roles].join(' '), query, {
        headers: { traceparent: traceOf(index) },
      });
      return { answer, from, to: this.#generation };
    });
  }

  reload(): void {
    this.#generation += 1;
    this.#gateway.take(this.entriesAt(this.#generation));
  }

  /** The failure as text; undefined if an upstream that holds only the user's reach would give the same answer. */
  async isOwn(
    question: Question,
    { answer, from, to }: { answer: Answer; from: number; to: number },
  ): Promise<string | undefined> {
    const { tenant, roles, query } = question;
    const expected: string[] = [];
    for (let generation = from; generation <= to; generation += 1) {
      const rights = this.#rightsAt(generation, question);
      if (typeof rights === 'string') expected.push(seenRefusal(rights));
      if (rights === refusals.noRole) continue;
      const write = typeof rights === 'string' ? { key: 'one', projects: [] } : rights.write;
      this.#setAlone(reachOf(write));
      this.#alone.take({ [tenant]: write });
      const alone = await this.#alone.askAs(tenant, query);
      // A document that is refused is so before it is known who may run it.
      if (typeof rights !== 'string' || alone.data === undefined) expected.push(seen(alone));
    }
    if (expected.includes(seen(answer))) return undefined;
    return `${tenant} ${roles.join(' ')} ${query}\n${seen(answer)}\n${expected.join('\n')}`;
  }

  /** The calls that no entry allowed with which their operation may have begun. */
  strays(
    upstream: Upstream,
    questions: readonly Question[],
    answers: readonly { from: number; to: number }[],
  ): readonly string[] {
    const outside = upstream.records.filter(({ method, target, headers, body }) => {
      const index = Number.parseInt(String(headers['traceparent']).slice(3, 35), 16) - 1;
      const { from, to } = answers[index] ?? { from: 0, to: -1 };
      const question = questions[index];
      if (question === undefined) return true;
      const generations = Array.from({ length: to - from + 1 }, (_, step) => from + step);
      const entries = generations.flatMap((one) => {
        const rights = this.#rightsAt(one, question);
        return typeof rights === 'string' ? [] : [method === 'GET' ? rights.read : rights.write];
      });
      return !entries.some(
        (entry) =>
          headers.authorization === `Bearer ${entry.key}` &&
          reachesTarget(reachOf(entry), method, target) &&
          reachesNamed(reachOf(entry), body),
      );
    });
    return outside.map(({ method, target, body }) => `${method} ${target} ${body}`);
  }

  #rightsAt(generation: number, question: Question): Rights | string {
    const entry = this.entriesAt(generation)[question.tenant];
    if (entry === undefined) throw new Error(`no entry of ${question.tenant}`);
    return rightsOf(entry, question);
  }
}

type Row = readonly [name: string, generations: readonly Entries[], isCaching: boolean];

function listIn(folder: Folder): Partial<GatewayOptions> {
  return { persisted: { files: folder.write('manifest.json', listed), mode: 'log' } };
}

test.each<Row>([
  ['with different reach over one key', limited, false],
  ['with a key each', apart, false],
  ['with different reach over one key, with a cache', limited, true],
  ['whose users have roles, with a cache', withRoles, true],
  ...inForm<readonly Row[]>([], [['with a key each and a cache', apart, true]]),
])(
  `no answer or call of a tenant holds data of another: two tenants %s (seed ${seed})`,
  { timeout: 3_600_000 },
  async (name, generations, isCaching) => {
    using folder = createFolder();
    const withList = { ...limits, ...listIn(folder) };
    let clock = 0;
    const cache = isCaching ? { ...cacheSettings, now: () => clock } : undefined;
    let worlds: Worlds = {};
    let alone: Reach | undefined;
    const worldFor = (key: string): World => worlds[key] ?? { lists: new Map() };
    await using upstream = await startUpstream(answering(worldFor), { hold: 1 });
    await using apartUpstream = await startUpstream(
      answering(worldFor, () => alone),
      { hold: 1 },
    );
    await using gateway = await startTenants(upstream, generations[0] ?? {}, { ...withList, cache });
    await using reference = await startTenants(apartUpstream, generations[0] ?? {}, withList);
    const one = new Case(generations, gateway, reference, (reach) => {
      alone = reach;
    });
    let operations = 0;
    await assert(
      asyncProperty(gen(), async (g) => {
        const random = new Random(g);
        // Kept answers of the worlds before are no longer fresh.
        clock += 10_000_000;
        // A kept page may be the last one of its list when a smaller one is not. If events were walked by offset, the
        // form of their cursors could differ then.
        const [first, second] = [worldOf(random, 8), worldOf(random, 8)];
        worlds = { one: { ...first, isWalkedByTime: isCaching }, two: { ...second, isWalkedByTime: isCaching } };
        const questions = Array.from({ length: operationsOfCase }, () =>
          questionOf(random, worldFor(random.pick(['one', 'two']))),
        );
        const reloads = new Set(Array.from({ length: 6 }, () => random.number(0, operationsOfCase - 1)));
        upstream.reset();
        const answers = await one.ask(questions, reloads);
        expect(one.strays(upstream, questions, answers)).toEqual([]);
        for (const [index, question] of questions.entries()) {
          const answer = answers[index];
          expect(answer === undefined ? 'no answer' : await one.isOwn(question, answer)).toBe(undefined);
        }
        operations += questions.length;
      }),
      { numRuns: isCaching && generations !== withRoles ? Math.ceil(numRuns / 2) : numRuns, seed, endOnFailure: true },
    );
    expect([...gateway.reported, ...reference.reported]).toEqual([]);
    const metrics = await gateway.gateway.metrics.render();
    expect(metrics).toContain('gateway_reach_faults_total 0\n');
    expect(/result="hit"} [1-9]/.test(metrics)).toBe(isCaching);
    measured(`tenants ${name}`, { operations });
  },
);
