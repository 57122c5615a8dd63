import type { Account, AccountCall, Counts, Outlook, Question, Want, WantDecision } from './ledger.ts';
import { leftAfter, outlookOf, type States, type WindowState, waitMs } from './outlook.ts';
import type { LogStates, ScriptQuestion, WaveNames } from './redis-script.ts';
import { agents, type BudgetSettings, type BudgetWindow, partsOf, percentOf, shareOf } from './settings.ts';

type Settings = Pick<BudgetSettings, 'windows' | 'share' | 'agentShare'>;

/** An account, and the users in it whose shares the script reports. */
interface AskedAccount {
  readonly account: Account;
  /** Percent of each window that each of the users may use. */
  readonly percent: number;
  readonly users: string[];
  /** The number of calls whose leaving times the script reports. */
  max: number;
}

/** Makes the question to the script about one wave, and reads the answer. */
export class Reservation {
  readonly #settings: Settings;
  readonly #accounts = new Map<string, AskedAccount>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Makes the question for the calls of wants, which have begun in this process. */
  ask(wants: readonly Want[], begun: readonly (readonly AccountCall[])[], names: WaveNames): ScriptQuestion {
    for (const { key, subject, counts } of wants) {
      for (const [surface, count] of partsOf(counts)) this.#note({ key, surface }, subject, count);
    }
    const places = [...this.#accounts.keys()];
    const asked = wants.map(({ key, subject, isBackground, holds, counts }, index) => ({
      isBackground,
      holds,
      parts: partsOf(counts).map(([surface]) => {
        const account = { key, surface };
        const ids = (begun[index] ?? []).filter((one) => one.account.surface === surface).map(({ call }) => call.id);
        const user = this.#hasShare(subject) ? names.of(account, subject) : 0;
        return [places.indexOf(nameOf(account, subject)) + 1, user, ids] as const;
      }),
    }));
    return { accounts: this.#tell(names), wants: asked };
  }

  /** Makes the question for the states of accounts. */
  look(questions: readonly Question[], names: WaveNames): ScriptQuestion {
    for (const { account, subject } of questions) this.#note(account, subject, 0);
    return { accounts: this.#tell(names), wants: [] };
  }

  /** The verdict on a want whose calls began in this process, after the decision of the script. */
  verdictOf(
    { key, subject, counts }: Want,
    calls: readonly AccountCall[],
    isAllowed: boolean,
    states: readonly LogStates[],
  ): WantDecision {
    const parts = partsOf(counts).map(([surface, count]) => {
      const of = this.#statesOf({ key, surface }, subject, states);
      return { surface, count, of, turnMs: Math.max(waitMs(of.all, count), waitMs(of.own, count)) };
    });
    if (isAllowed) {
      const left: Counts = Object.fromEntries(parts.map(({ surface, of }) => [surface, leftAfter(of, 0)]));
      return { kind: 'begin', calls, left };
    }
    const { turnMs = 0, surface = 'rest' } = parts.toSorted((one, other) => other.turnMs - one.turnMs)[0] ?? {};
    return { kind: 'wait', turnMs, surface };
  }

  /** The state of an account that was asked about. */
  outlookOf({ account, subject }: Question, states: readonly LogStates[]): Outlook {
    return outlookOf(this.#statesOf(account, subject, states));
  }

  #note(account: Account, subject: string, count: number): void {
    const name = nameOf(account, subject);
    const percent = percentOf(this.#settings, subject);
    const asked = this.#accounts.get(name) ?? { account, percent, users: [], max: 0 };
    this.#accounts.set(name, asked);
    asked.max += count;
    if (this.#hasShare(subject) && !asked.users.includes(subject)) asked.users.push(subject);
  }

  #hasShare(subject: string): boolean {
    return percentOf(this.#settings, subject) < 100;
  }

  #tell(names: WaveNames): ScriptQuestion['accounts'] {
    const { windows: all } = this.#settings;
    return [...this.#accounts.values()].map(({ account, percent, users, max }) => {
      const windows = all[account.surface] ?? [];
      const key = names.of(account);
      return {
        key,
        windows: windows.map(({ ms, limit }) => [ms, limit, shareOf(limit, percent)] as const),
        longestMs: Math.max(...windows.map(({ ms }) => ms)),
        tells: [key, ...users.map((subject) => names.of(account, subject))],
        max: Math.max(1, max),
      };
    });
  }

  #statesOf(account: Account, subject: string, states: readonly LogStates[]): States {
    const { windows: all } = this.#settings;
    const percent = percentOf(this.#settings, subject);
    const windows = all[account.surface] ?? [];
    const names = [...this.#accounts.keys()];
    const told = states[names.indexOf(nameOf(account, subject))] ?? [];
    const { users = [] } = this.#accounts.get(nameOf(account, subject)) ?? {};
    const own = this.#hasShare(subject) ? statesFrom(told[users.indexOf(subject) + 1] ?? [], windows, percent) : [];
    return { all: statesFrom(told[0] ?? [], windows, 100), own };
  }
}

/** The name of an account. Agents have their own, because their share may differ although one log counts both. */
function nameOf({ key, surface }: Account, subject: string): string {
  return `${subject === agents ? agents : ''} ${surface} ${key}`;
}

/** The states of the windows of one log. */
function statesFrom(
  told: LogStates[number],
  windows: readonly BudgetWindow[],
  percent: number,
): readonly WindowState[] {
  return windows.map(({ ms, limit }, index) => {
    const [counted = 0, last = 0, ...first] = told[index] ?? [];
    return {
      ms,
      limit: percent === 100 ? limit : shareOf(limit, percent),
      counted,
      emptyIn: counted === 0 ? 0 : whenLeft(last, ms),
      leavesIn: (n) => {
        const leaves = first[n];
        return leaves === undefined || leaves === inFlight ? undefined : leaves;
      },
    };
  });
}

/** The mark of a call in flight: the time when it leaves is not known. */
const inFlight = -1;

function whenLeft(leaves: number, ms: number): number {
  return leaves === inFlight ? ms : leaves;
}
