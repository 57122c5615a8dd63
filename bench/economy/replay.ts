/** Lives a day of the team through one contender. */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startChild } from '../measure/child.ts';
import type { Client, Outcome } from './clients.ts';
import { type ContenderName, contenders } from './contenders.ts';
import { type Day, type Edit, firstDashboard, projects, type Visit } from './day.ts';
import { History, type State, statesIn, textOf } from './history.ts';
import { pollSeconds } from './pages.ts';
import { type Figures, Recorder } from './record.ts';
import { compressed, daySeconds, minutes } from './scale.ts';
import { otherKey, type ServiceReport } from './service.ts';

/** A page whose read has failed, without a word when to try again, waits at least so long; in milliseconds of the day. */
const leastRetryMs = 5000;

/** Steps of the export of a project's events. */
const exportSteps = 5;

/** Lives a day, and measures it. */
export async function replay(name: ContenderName, day: Day): Promise<Figures> {
  await using upstream = startChild<object, ServiceReport>('../economy/upstream.ts', []);
  const { url } = await upstream.answer();
  await using client = await contenders[name].start(url);
  const before = await upstream.ask({});
  const recorder = await new Team(client, day).live(url);
  const { calls, throttled } = await upstream.ask({});
  return recorder.figures(calls - before.calls, throttled - before.throttled, day.length, daySeconds);
}

/** The people, and what they see. */
class Team {
  readonly #client: Client;
  readonly #day: Day;
  readonly #history = new History();
  readonly #recorder = new Recorder(this.#history);
  readonly #startedAt = performance.now();
  /** The last write of each person that was confirmed to that person. */
  readonly #own = new Map<number, State>();

  constructor(client: Client, day: Day) {
    this.#client = client;
    this.#day = day;
  }

  /** Lives the day; `url` is that of the service, which others write to directly. */
  async live(url: string): Promise<Recorder> {
    const { visits, edits, length } = this.#day;
    // Every second of the day.
    const sampling = setInterval(() => this.#recorder.sample(), compressed(1000));
    const byPerson = Map.groupBy(edits, ({ person }) => person);
    const exporting = this.#export();
    await Promise.all([
      ...visits.map((visit) => this.#follow(visit)),
      ...[...byPerson.values()].map((own) => this.#work(own)),
      this.#writeAside(url),
      this.#until(length),
    ]);
    clearInterval(sampling);
    await exporting;
    return this.#recorder;
  }

  get #isOver(): boolean {
    return performance.now() - this.#startedAt >= minutes(this.#day.length);
  }

  /** Waits for a minute of the day. */
  async #until(minute: number): Promise<void> {
    await sleep(Math.max(0, this.#startedAt + minutes(minute) - performance.now()));
  }

  /** Keeps a page open, and polls. */
  async #follow({ person, page, from, to }: Visit): Promise<void> {
    const place = this.#day.places[person];
    if (place === undefined) return;
    await this.#until(from);
    const screen = this.#recorder.open();
    const endsAt = this.#startedAt + minutes(to);
    const period = compressed(pollSeconds[page] * 1000);
    while (performance.now() < endsAt) {
      const outcome = await this.#read(person, () => this.#client.read(page, place));
      if (outcome.kind === 'answered') screen.states = statesIn(outcome.text);
      const pause = outcome.kind === 'answered' ? period : Math.max(period, outcome.retryAfterMs);
      await sleep(Math.max(0, Math.min(pause, endsAt - performance.now())));
    }
    this.#recorder.close(screen);
  }

  /** An operation that reads: is it answered, how old is that, and does it show what its reader has written? */
  async #read(person: number, ask: () => Promise<Outcome>): Promise<Outcome> {
    const own = this.#own.get(person);
    const outcome = await this.#ask(ask);
    if (outcome.kind !== 'answered') return outcome;
    const states = statesIn(outcome.text);
    this.#recorder.answered(states);
    const shown = states.filter(({ object }) => object === own?.object);
    if (own !== undefined && shown.some(({ version }) => version < own.version)) this.#recorder.unseenEdits += 1;
    return outcome;
  }

  async #ask(ask: () => Promise<Outcome>): Promise<Outcome> {
    this.#recorder.operations += 1;
    const outcome = await ask();
    if (outcome.kind === 'failed') this.#recorder.refused += 1;
    return outcome;
  }

  /** Changes the own dashboard now and then, and looks at it after that. */
  async #work(edits: readonly Edit[]): Promise<void> {
    for (const { person, at } of edits) {
      const place = this.#day.places[person];
      if (place === undefined) return;
      await this.#until(at);
      if (!(await this.#insist(() => this.#change(person)))) return;
      await this.#read(person, () => this.#client.read('dashboard', place));
    }
  }

  async #change(person: number): Promise<Outcome> {
    const place = this.#day.places[person];
    if (place === undefined) throw new Error(`expected person ${person} to have a place`);
    const state = this.#history.begin(`own${place.dashboard}`);
    const outcome = await this.#ask(() => this.#client.edit(place, `What we look at. ${textOf(state)}`));
    if (outcome.kind !== 'answered') return outcome;
    this.#history.end(state, performance.now());
    this.#own.set(person, state);
    this.#recorder.edits += 1;
    return outcome;
  }

  /** Does something again until it is answered; false if the day is over before. */
  async #insist(ask: () => Promise<Outcome>): Promise<Outcome | false> {
    for (;;) {
      if (this.#isOver) return false;
      const outcome = await ask();
      if (outcome.kind === 'answered') return outcome;
      await sleep(Math.max(compressed(leastRetryMs), outcome.retryAfterMs));
    }
  }

  /** One person reads all dashboards and the newest events of all projects. */
  async #export(): Promise<void> {
    await this.#until(this.#day.exportAt);
    const beganAt = performance.now();
    for (const place of this.#day.places.slice(0, projects)) {
      if (!(await this.#insist(() => this.#ask(() => this.#client.read('wall', place))))) return;
      let before = '';
      for (let step = 0; step < exportSteps; step += 1) {
        const outcome = await this.#insist(() => this.#ask(() => this.#client.exportStep(place, step, before)));
        if (outcome === false || outcome.kind !== 'answered') return;
        before = outcome.text;
      }
    }
    this.#recorder.exportMs = performance.now() - beganAt;
  }

  /** Another tool, with a key of its own, writes to the service once a second of the day: to each object in turn. */
  async #writeAside(url: string): Promise<void> {
    const numbers = Array.from({ length: projects }, (_, index) => index + 1);
    const targets = numbers.flatMap((project) => [
      { object: `project${project}`, path: `/api/projects/${project}/`, column: 'name' },
      {
        object: `first${project}`,
        path: `/api/projects/${project}/dashboards/${firstDashboard(project)}/`,
        column: 'description',
      },
    ]);
    for (let turn = 0; !this.#isOver; turn += 1) {
      const { object, path, column } = targets[turn % targets.length] ?? { object: '', path: '', column: '' };
      const state = this.#history.begin(object);
      await patch(`${url}${path}`, { [column]: `As of now ${textOf(state)}` });
      this.#history.end(state, performance.now());
      await sleep(Math.max(0, this.#startedAt + compressed((turn + 1) * 1000) - performance.now()));
    }
  }
}

async function patch(url: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${otherKey}`, 'content-type': 'application/json' };
  const response = await request(url, { method: 'PATCH', headers, body: JSON.stringify(body) });
  await response.body.dump();
  if (response.statusCode !== 200) throw new Error(`expected 200 for PATCH ${url}, but got ${response.statusCode}`);
}
