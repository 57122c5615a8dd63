import { RecentMap } from '../../recent-map.ts';
import type { Caller } from '../caller.ts';
import { namesCurrent } from '../paths.ts';
import type { Epoch, Reuse } from '../read-your-writes.ts';
import type { CallSuccess } from '../resilience/gate.ts';
import type { UpstreamResources } from '../resilience/upstream-resources.ts';
import { type ReadFormat, readFormats } from '../response-content.ts';
import type { RestOperation } from '../rest-operations.ts';
import type { RestRun } from '../rest-run.ts';
import { CacheCounts } from './cache-counts.ts';
import { type Freshness, freshnessByOperation } from './freshness.ts';
import { KeptAnswer, KeptAnswers } from './kept-answers.ts';
import type { RedisAnswers } from './redis-answers.ts';
import { WholeAnswers } from './whole-answers.ts';

/** Settings of the cache. */
export interface CacheOptions {
  /** The time for which answers are fresh, in seconds by noun. Answers of other nouns are not kept. */
  readonly ttls: Readonly<Record<string, number>>;
  /** The time for which stale answers are still used while newer ones are read, in seconds. */
  readonly staleSeconds: number;
  /** The most memory that one process may use for answers, in bytes. */
  readonly maxBytes: number;
  /** The longest that a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  /** The store of the answers that gateways share; by default there is none. */
  readonly remote?: RedisAnswers | undefined;
  /** A clock in milliseconds that never goes back; by default `performance.now()`. */
  readonly now?: () => number;
}

/** A read whose answer is kept. */
export interface CachedRead extends Freshness {
  readonly caller: Caller;
  readonly endpoint: RestOperation;
  readonly target: string;
  readonly format: ReadFormat;
  /** The name of the answer: its epoch, and the target without the number of rows. */
  readonly name: string;
  /** The number of rows that are asked for; undefined if the read is not of a page. */
  readonly limit: number | undefined;
  /** The time at which an operation asked for `limit` rows. */
  readonly limitAskedAt: number;
}

/** The part of `maxBytes` that is for whole answers of queries. */
const partOfWhole = 1 / 8;

/**
 * The cache of REST answers of a process. Pages of a list that begin at the same row share one entry. The entry answers
 * every page that is no longer than its own.
 */
export class AnswerCache {
  readonly counts = new CacheCounts();
  readonly whole: WholeAnswers;
  readonly now: () => number;
  /** The longest that a refresh may take, in milliseconds. */
  readonly refreshMs: number;
  readonly #resources: UpstreamResources;
  readonly #kept: KeptAnswers;
  readonly #freshness: ReadonlyMap<RestOperation, Freshness>;
  readonly #remote: RedisAnswers | undefined;
  /** The look-ups in Redis that `find` has under way, by the answer's name. Reads of the same answer share one. */
  readonly #asked = new Map<string, Promise<KeptAnswer | undefined>>();
  /** The renewals that `endEpoch` has begun, by ended epoch. Many calls may want to end the same epoch. */
  readonly #ended = new RecentMap<Epoch, Promise<void>>({ entries: mostEnded });

  constructor(options: CacheOptions, resources: UpstreamResources) {
    const { ttls, staleSeconds, maxBytes, refreshMs, remote, now = () => performance.now() } = options;
    this.#kept = new KeptAnswers(maxBytes * (1 - partOfWhole));
    this.whole = new WholeAnswers({ counts: this.counts, now, maxBytes: maxBytes * partOfWhole });
    this.#resources = resources;
    this.now = now;
    this.refreshMs = refreshMs;
    this.#remote = remote;
    this.#freshness = freshnessByOperation(ttls, staleSeconds);
  }

  /** The memory of everything that is kept, in bytes. */
  get bytes(): number {
    return this.#kept.bytes + this.whole.bytes;
  }

  /**
   * A read of an operation; undefined if its answer is not kept. The meaning of `@current` may change without a write,
   * so answers to paths with it are never kept.
   */
  readOf(
    { caller, epoch }: RestRun,
    endpoint: RestOperation,
    target: string,
    format: ReadFormat,
  ): CachedRead | undefined {
    const freshness = this.#freshness.get(endpoint);
    if (freshness === undefined || namesCurrent(target)) return undefined;
    const name = nameOf(epoch.name, target);
    const limit = limitIn(target);
    return { caller, endpoint, target, format, name, limit, limitAskedAt: this.now(), ...freshness };
  }

  /** The answer that may be given without a call, if there is one. Counts the read unless `reuse` is `uncounted`. */
  find(read: CachedRead, reuse: Reuse): KeptAnswer | undefined | Promise<KeptAnswer | undefined> {
    if (reuse !== 'normal') {
      if (reuse !== 'uncounted') this.counts.add(read.noun, 'bypass');
      return undefined;
    }
    const here = this.#findHere(read);
    if (here !== undefined || this.#remote === undefined) return this.#counted(here, read);
    const { name } = read;
    let asked = this.#asked.get(name);
    if (asked === undefined) {
      asked = this.#findRemote(this.#remote, read, read.usableMs).finally(() => this.#asked.delete(name));
      this.#asked.set(name, asked);
    }
    // Another read of the list may have asked for fewer rows.
    return asked.then((found) => this.#counted(found && hasRows(found, read.limit) ? found : undefined, read));
  }

  /** True if an answer is no longer fresh. It is then given while a newer one is read. */
  isStale({ source }: KeptAnswer): boolean {
    return this.now() >= source.freshUntil;
  }

  /** Keeps the answer to a read. */
  keep(read: CachedRead, { value, response: { text }, sentAt }: CallSuccess): void {
    this.#resources.epochs.prove?.(read.caller.sharingKey);
    const answer = new KeptAnswer(read, value, text, { sentAt, readAt: this.now() });
    if (this.#kept.keep(answer) === answer) this.#remote?.keep(read, text, sentAt);
  }

  /**
   * The read that refreshes a stale answer. If an operation has asked for as many rows as the answer has, at most
   * `usableMs` ago, the read asks for all of them. So one call refreshes pages of all sizes.
   */
  refreshOf({ limit, limitAskedAt }: KeptAnswer, read: CachedRead): CachedRead {
    const isAskedFor = this.now() - limitAskedAt <= read.usableMs;
    return isAskedFor ? { ...read, target: withLimit(read.target, limit), limit, limitAskedAt } : read;
  }

  /** True if this gateway is to refresh a stale answer. A fresh answer of another gateway is adopted. */
  async claimRefresh(read: CachedRead): Promise<boolean> {
    const remote = this.#remote;
    if (remote === undefined) return true;
    if ((await this.#findRemote(remote, read, read.freshMs)) !== undefined) return false;
    return remote.claim(read, Math.min(read.freshMs, this.refreshMs));
  }

  /**
   * Ends the epoch of a key, because the upstream has shown that kept answers are no longer true. With a target, the
   * epoch ends only if an answer to the target is kept. Otherwise reads of invented ids would end the epoch.
   */
  async endEpoch({ caller, epoch: { name: epoch, isShared } }: RestRun, target?: string): Promise<void> {
    if (!isShared || (target !== undefined && !(await this.#hasAny(caller, epoch, target)))) return;
    const known = this.#ended.get(epoch);
    if (known !== undefined) return known;
    const { epochs, keys } = this.#resources;
    const ended = Promise.resolve(epochs.renew(caller.sharingKey, keys.isProven(caller))).then(() => undefined);
    this.#ended.set(epoch, ended);
    return ended;
  }

  /** True if an answer to a target is kept, fresh or stale, here or in Redis. */
  async #hasAny(caller: Caller, epoch: Epoch, target: string): Promise<boolean> {
    const name = nameOf(epoch, target);
    return this.#kept.find(name) !== undefined || (await this.#remote?.has({ caller, name })) === true;
  }

  /** The answer that this process has for a read, if it may still be used. */
  #findHere({ name, limit, limitAskedAt, usableMs }: CachedRead): KeptAnswer | undefined {
    const answer = this.#kept.find(name);
    if (answer === undefined || this.now() - answer.source.readAt >= usableMs) return undefined;
    if (answer.limit === limit) answer.limitAskedAt = limitAskedAt;
    return hasRows(answer, limit) ? answer : undefined;
  }

  #counted(answer: KeptAnswer | undefined, { noun }: CachedRead): KeptAnswer | undefined {
    if (answer === undefined) this.counts.add(noun, 'miss');
    else {
      this.counts.add(noun, this.isStale(answer) ? 'stale' : 'hit');
      this.counts.addAge(this.now() - answer.source.readAt);
    }
    return answer;
  }

  /** Adopts Redis's answer to a read, if it is younger than `youngerMs` milliseconds and has enough rows. */
  async #findRemote(remote: RedisAnswers, read: CachedRead, youngerMs: number): Promise<KeptAnswer | undefined> {
    const [askedAt, now] = [performance.now(), this.now()];
    const found = await remote.find(read);
    if (found === undefined || found.ageMs >= youngerMs || !hasRows(found, read.limit)) return undefined;
    const { text, limit, ageMs } = found;
    // The clocks were read before Redis told the age. So the request for the answer was sent at these times or later.
    const times = { sentAt: askedAt - ageMs, readAt: now - ageMs };
    try {
      const value = valueIn(text, read.format);
      return this.#kept.keep(new KeptAnswer({ ...read, limit }, value, text, times));
    } catch {
      return undefined;
    }
  }
}

const limitPattern = /\?limit=(\d+)/;

/** The target with another number of rows. */
function withLimit(target: string, limit: number | undefined): string {
  return limit === undefined ? target : target.replace(limitPattern, `?limit=${limit}`);
}

/**
 * The number of rows that a target asks for; undefined if the target is no page. It is also undefined for a page of a
 * table, because a kept table is never cut to answer a read of fewer rows.
 */
function limitIn(target: string): number | undefined {
  if (target.includes('select=') || target.includes('format=csv')) return undefined;
  const digits = limitPattern.exec(target)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The name of the answer to a target. Pages that begin at the same row of a list have the same name. */
function nameOf(epoch: Epoch, target: string): string {
  const list = limitIn(target) === undefined ? target : target.replace(limitPattern, '?');
  return `${epoch} ${list}`;
}

/** True if an answer has all rows that are asked for. */
function hasRows({ limit: has }: { readonly limit: number | undefined }, limit: number | undefined): boolean {
  return has === limit || (has !== undefined && limit !== undefined && has > limit);
}

/** The value of a kept text. Only texts that could be read are kept. */
function valueIn(text: string, format: ReadFormat): unknown {
  const { accept, decode } = readFormats[format];
  return decode({ status: 200, headers: { 'content-type': accept }, text });
}

/** The maximum number of ended epochs that are remembered. Fewer of them end while an old one has calls in flight. */
const mostEnded = 1000;
