import type { CountedCall, Outlook, Verdict, Want } from './ledger.ts';
import { outlookOf, type WindowState, waitMs } from './outlook.ts';
import type { LogStates, ScriptReservation, WaveNames } from './redis-script.ts';
import { type BudgetSettings, type BudgetWindow, shareOf } from './settings.ts';

type Settings = Pick<BudgetSettings, 'windows' | 'share'>;

/** The script's reservation for one want whose calls are `begun` here; `max`: of how many calls it says when they leave. */
export function reservationOf(
  want: Want,
  begun: readonly CountedCall[],
  max: number,
  names: WaveNames,
  settings: Settings,
): ScriptReservation {
  const { account, calls } = want;
  const windows = settings.windows[account.surface] ?? [];
  const key = names.of(account);
  const logOf = (subject: string): number =>
    subject === '' || settings.share === 100 ? 0 : names.of(account, subject);
  return {
    key,
    windows: windows.map(({ ms, limit }) => [ms, limit, shareOf(limit, settings.share)] as const),
    longestMs: Math.max(...windows.map(({ ms }) => ms)),
    calls: begun.map(
      ({ id, subject }, index) => [id, logOf(subject), calls[index]?.isBackground === true ? 1 : 0] as const,
    ),
    tells: [key, ...usersOf(want, settings).map(logOf)],
    max,
  };
}

/** The users of whose share Redis answers the state, in that order. */
function usersOf({ calls }: Want, { share }: Settings): readonly string[] {
  if (share === 100) return [];
  return [...new Set(calls.map(({ subject }) => subject))].filter((subject) => subject !== '');
}

/** The verdicts on the calls of one want of which Redis has `allowed` some. */
export function verdictsOf(
  want: Want,
  begun: readonly CountedCall[],
  allowed: readonly boolean[],
  states: LogStates,
  settings: Settings,
): readonly Verdict[] {
  const windows = settings.windows[want.account.surface] ?? [];
  const all = statesFrom(states[0] ?? [], windows, 100);
  const users = usersOf(want, settings);
  const waiting = new Map<string, number>();
  let waitingOfAll = 0;
  return begun.map((call, index) => {
    if (allowed[index] === true) return { kind: 'begin', call };
    const { subject } = call;
    const waitingOfUser = (waiting.get(subject) ?? 0) + 1;
    waiting.set(subject, waitingOfUser);
    waitingOfAll += 1;
    const own = statesFrom(states[users.indexOf(subject) + 1] ?? [], windows, settings.share);
    const share = users.includes(subject) ? waitMs(own, waitingOfUser) : 0;
    return { kind: 'wait', turnMs: Math.max(waitMs(all, waitingOfAll), share) };
  });
}

/** What is known of an account that `count` calls are asked about. */
export function outlookFrom(want: Want, count: number, states: LogStates, settings: Settings): Outlook {
  const windows = settings.windows[want.account.surface] ?? [];
  const all = statesFrom(states[0] ?? [], windows, 100);
  const own = usersOf(want, settings).length === 0 ? [] : statesFrom(states[1] ?? [], windows, settings.share);
  return outlookOf({ all, own }, count);
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

/** Of a call in flight it is not known when it leaves. */
const inFlight = -1;

function whenLeft(leaves: number, ms: number): number {
  return leaves === inFlight ? ms : leaves;
}
