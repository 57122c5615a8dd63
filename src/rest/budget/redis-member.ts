import type { Log } from '../../log.ts';
import { reasonOf } from '../../redis.ts';
import type { Surface } from '../operation-ids.ts';
import type { AccountCall } from './ledger.ts';
import { type Membership, othersBackMs } from './membership.ts';
import type { WaveNames } from './redis-names.ts';
import type { ScriptReply, ScriptTake } from './redis-script.ts';
import type { RedisWaves } from './redis-waves.ts';
import type { BudgetWindows } from './settings.ts';

/** Settings of a member. */
export interface RedisMemberOptions {
  readonly waves: RedisWaves;
  readonly membership: Membership;
  readonly windows: BudgetWindows;
  /** Every call that counts, of keys that are proven. */
  readonly calls: () => readonly AccountCall[];
  readonly now: () => number;
  readonly log: Log;
}

/** How often a gateway on its own tries to join, in milliseconds. */
const joinEveryMs = 200;

/** Calls that are sent in one step when a gateway joins. */
const callsAStep = 2000;

/** This gateway among those that count in one Redis: sends what happens here, leaves when Redis is lost, and joins again. */
export class RedisMember {
  readonly #options: RedisMemberOptions;
  /** What is sent to Redis with the next wave, or at the end of this turn of the event loop. */
  #ended: AccountCall[] = [];
  #drops: AccountCall[] = [];
  #isTelling = false;
  #isJoining = false;
  #joining: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #hasWarned = false;
  #hasWarnedOfProcess = false;
  /** Called when more may be called than was thought. */
  onJoined: () => void = () => undefined;

  constructor(options: RedisMemberOptions) {
    this.#options = options;
  }

  /** Whether Redis decides. */
  get isJoined(): boolean {
    return this.#options.membership.born !== undefined;
  }

  /** The last step of joining, in which no call may begin: Redis would not know it. */
  get joining(): Promise<void> | undefined {
    return this.#joining;
  }

  /** Milliseconds until this gateway may go on by itself on a surface. */
  waitMs(surface: Surface): number {
    return this.#options.membership.waitMs(this.#options.windows[surface] ?? []);
  }

  /** Calls have ended, or are to be known at all. */
  ended(calls: readonly AccountCall[]): void {
    if (!this.isJoined && this.#joining === undefined) return;
    this.#ended.push(...calls);
    this.#tellSoon();
  }

  /** A call was not made after all. */
  dropped(call: AccountCall): void {
    if (!this.isJoined && this.#joining === undefined) return;
    this.#drops.push(call);
    this.#tellSoon();
  }

  /** Sends Redis what has happened, and asks for calls; undefined if it does not answer, or has to be joined first. */
  async tell(takes?: (names: WaveNames) => readonly ScriptTake[]): Promise<ScriptReply['joined']> {
    const { waves, membership } = this.#options;
    const { born } = membership;
    if (born === undefined) return undefined;
    const [calls, drops] = [this.#ended, this.#drops];
    this.#ended = [];
    this.#drops = [];
    try {
      const reply = await waves.run({ born, calls, drops, ...(takes !== undefined && { takes }) });
      // It may have been left, or joined anew, meanwhile.
      if (reply.joined === undefined) {
        this.leave('its state is lost');
        void this.join();
      } else if (membership.born === born) membership.heard(reply);
      return membership.born === born ? reply.joined : undefined;
    } catch (error) {
      this.leave(reasonOf(error));
      return undefined;
    }
  }

  /** Sends all calls that count here; then Redis decides. Tries again until it succeeds. */
  async join(): Promise<void> {
    const { membership, waves, now, calls, log } = this.#options;
    if (this.#isJoining || this.#isClosed || this.isJoined) return;
    this.#isJoining = true;
    clearTimeout(this.#timer);
    try {
      const since = now();
      const known = calls();
      let born: string | undefined;
      for (let from = 0; from < known.length; from += callsAStep)
        ({ born } = taken(await waves.run({ born, calls: known.slice(from, from + callsAStep) })));
      const last = calls().filter(
        ({ call }) => call.beganAt >= since || (Number.isFinite(call.endedAt) && call.endedAt >= since),
      );
      const completed = waves.run({ born, completes: true, calls: last });
      this.#joining = completed.then(
        () => undefined,
        () => undefined,
      );
      const reply = taken(await completed);
      membership.heard(reply);
      if (!reply.joined.tellsProcess) this.#warnOfProcess();
      if (this.#hasWarned) log('info', 'calls are counted in Redis again');
      this.#hasWarned = false;
      this.onJoined();
      setTimeout(() => this.onJoined(), othersBackMs).unref();
    } catch (error) {
      if (!(error instanceof StateLost)) this.#warn(reasonOf(error));
      this.#joinLater();
    } finally {
      this.#joining = undefined;
      this.#isJoining = false;
    }
  }

  /** Redis cannot be reached, or knows nothing of what it was sent. */
  leave(reason: string): void {
    this.#warn(reason);
    this.#options.membership.leave();
    this.#ended = [];
    this.#drops = [];
    this.#joinLater();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Says once that this gateway is on its own. */
  #warn(reason: string): void {
    if (this.#hasWarned || this.#isClosed) return;
    this.#hasWarned = true;
    const consequence = this.isJoined
      ? 'a window later this gateway goes on with its part of the budget'
      : 'this gateway has its part of the budget';
    this.#options.log('warn', `calls cannot be counted in Redis: ${consequence}`, { reason });
  }

  #warnOfProcess(): void {
    if (this.#hasWarnedOfProcess) return;
    this.#hasWarnedOfProcess = true;
    const reason = 'it refuses INFO, or tells no run_id';
    this.#options.log('warn', 'Redis may lose calls unnoticed if it starts again with its file', { reason });
  }

  #joinLater(): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.join(), joinEveryMs).unref();
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      if (this.#ended.length > 0 || this.#drops.length > 0) void this.tell();
    });
  }
}

/** Redis has forgotten what it was sent by the waves before. */
class StateLost extends Error {
  override readonly name = 'StateLost';
}

/** What Redis answers to a wave that it has taken. Throws if its state is not the one that got the waves before. */
function taken({ born, joined }: ScriptReply): ScriptReply & { readonly joined: object } {
  if (joined === undefined) throw new StateLost('expected the state that was told the first calls');
  return { born, joined };
}
