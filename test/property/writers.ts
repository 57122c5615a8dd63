import { isObject } from '../../src/rest/values.ts';
import { type Answer, ask } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import type { Handler } from '../support/routes.ts';
import { listedProject, project } from '../support/rows.ts';
import type { Random } from './random.ts';
import { waitTurns } from './upstream.ts';

const ids = [1, 2, 3];

/** A caller of gateways. */
export interface Writer {
  readonly key: string;
  readonly reach: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
}

/** An upstream with three projects for each key, whose names tell the key and the changes; as slow as `turnsNow` says. */
export function countingProjects(turnsNow: () => number): Handler {
  const changes = new Map<string, number>();
  return async (request) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const id = Number(request.path.split('/')[3]);
    const nameOf = (one: number): string => `${key} ${one} ${changes.get(`${key} ${one}`) ?? 0}`;
    await waitTurns(turnsNow());
    if (request.method === 'PATCH') changes.set(`${key} ${id}`, (changes.get(`${key} ${id}`) ?? 0) + 1);
    const answer =
      id > 0
        ? project(id, { name: nameOf(id) })
        : listOf(ids.map((one) => listedProject(one, { name: nameOf(one) })))(request);
    await waitTurns(turnsNow());
    return answer;
  };
}

/** The writes that were answered, as every writer knows them: changes by key and project. */
export type AnsweredWrites = Map<string, number>;

/** One client that switches gateways. What it reads must be its own, and no older than any write that was answered before. */
export class SwitchingWriter {
  readonly #urls: readonly string[];
  readonly #random: Random;
  readonly #writer: Writer;
  readonly #answered: AnsweredWrites;
  /** Answers that told a project. */
  told = 0;

  constructor(urls: readonly string[], random: Random, writer: Writer, answered: AnsweredWrites) {
    this.#urls = urls;
    this.#random = random;
    this.#writer = writer;
    this.#answered = answered;
  }

  async step(): Promise<readonly string[]> {
    if (this.#random.once(4)) return this.#write(this.#random.pick(this.#writer.reach));
    const isList = this.#random.once(3);
    const asked = this.#random.once(2) ? ids : [this.#random.pick(ids)];
    const wrong: string[] = [];
    // Equal ones come one after the other: what they read may be answered without being executed again.
    for (let left = this.#random.number(1, 4); left > 0; left -= 1) {
      wrong.push(...(await (isList ? this.#readList() : this.#readById(asked))));
    }
    return wrong;
  }

  async #readList(): Promise<readonly string[]> {
    const before = new Map(this.#answered);
    const answer = await this.#ask('{ projects(first: 10) { nodes { upstreamId name } } }');
    const nodes = inside(answer, 'data', 'projects', 'nodes');
    const names = new Map(
      (Array.isArray(nodes) ? nodes : []).map((node) => [textIn(node, 'upstreamId'), textIn(node, 'name')]),
    );
    return ids.flatMap((one) => this.#wrongIn(one, names.get(`${one}`), answer.errors !== undefined, before));
  }

  async #readById(asked: readonly number[]): Promise<readonly string[]> {
    const before = new Map(this.#answered);
    const fields = asked.map((one) => `p${one}: project(id: ${one}) { name }`);
    const answer = await this.#ask(`{ ${fields.join(' ')} }`);
    return asked.flatMap((one) =>
      this.#wrongIn(one, textIn(answer, 'data', `p${one}`, 'name'), answer.errors !== undefined, before),
    );
  }

  async #write(id: number): Promise<readonly string[]> {
    const before = new Map(this.#answered);
    const giveUp = new AbortController();
    // Some writes are given up, and arrive all the same, sooner or later.
    if (this.#random.once(3)) void waitTurns(this.#random.number(0, 12)).then(() => giveUp.abort());
    const mutation = `mutation { updateProject(input: { id: ${id}, name: "New" }) { project { name } } }`;
    const answer = await this.#ask(mutation, giveUp.signal).catch(() => undefined);
    const name = textIn(answer, 'data', 'updateProject', 'project', 'name');
    if (name === undefined) return [];
    const wrong = this.#wrongIn(id, name, false, before);
    const place = `${this.#writer.key} ${id}`;
    this.#answered.set(place, Math.max(this.#answered.get(place) ?? 0, changesIn(name)));
    return wrong;
  }

  #wrongIn(id: number, name: string | undefined, hasFailed: boolean, before: AnsweredWrites): readonly string[] {
    const { key, reach } = this.#writer;
    if (name === undefined && (hasFailed || !reach.includes(id))) return [];
    this.told += 1;
    const place = `${key} ${id}`;
    if (!reach.includes(id) || name?.startsWith(`${place} `) !== true) return [`${place} was answered with ${name}`];
    const written = before.get(place) ?? 0;
    return changesIn(name) >= written ? [] : [`${name} was read after ${written} had been written`];
  }

  #ask(query: string, signal?: AbortSignal): Promise<Answer> {
    const { headers } = this.#writer;
    return ask(this.#random.pick(this.#urls), query, { headers, ...(signal && { signal }) });
  }
}

function changesIn(name: string): number {
  return Number(name.split(' ')[2]);
}

/** The value at a path of an answer; undefined if there is none. */
function inside(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((here, name) => (isObject(here) ? here[name] : undefined), value);
}

function textIn(value: unknown, ...path: readonly string[]): string | undefined {
  const text = inside(value, ...path);
  return typeof text === 'string' ? text : undefined;
}
