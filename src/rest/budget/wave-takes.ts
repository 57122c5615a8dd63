import type { CountedCall, Outlook, Verdict, Want } from './ledger.ts';
import { outlookOf, type WindowState, waitMs } from './outlook.ts';
import type { WaveNames } from './redis-names.ts';
import type { ScriptReply, ScriptTake } from './redis-script.ts';
import { type BudgetSettings, type BudgetWindow, shareOf } from './settings.ts';

type Settings = Pick<BudgetSettings, 'windows' | 'share'>;

/** What Redis answers of the sets of one take. */
type TakeStates = NonNullable<ScriptReply['joined']>['states'][number];

/** The calls of one want that may begin if Redis agrees. */
export interface TakeParts {
  readonly want: Want;
  readonly verdicts: readonly Verdict[];
  readonly names: WaveNames;
  readonly settings: Settings;
  /** How many calls further on their turns are asked for. */
  readonly ahead?: number;
}

/** What the script is asked for one want. */
export function takeFor({ want, verdicts, names, settings, ahead }: TakeParts): ScriptTake {
  const { account, calls } = want;
  const windows = settings.windows[account.surface] ?? [];
  const key = names.of(account);
  const userSet = (subject: string): number =>
    subject === '' || settings.share === 100 ? 0 : names.of(account, subject);
  return {
    key,
    windows: windows.map(({ ms, limit }) => [ms, limit, shareOf(limit, settings.share)] as const),
    longestMs: Math.max(...windows.map(({ ms }) => ms)),
    calls: verdicts.flatMap((verdict, index) => {
      if (verdict.kind !== 'begin') return [];
      return [[verdict.call.id, userSet(verdict.call.subject), calls[index]?.isBackground === true ? 1 : 0] as const];
    }),
    tells: [key, ...usersOf(want, settings).map(userSet)],
    most: ahead ?? calls.length,
  };
}

/** The users of whose share Redis answers the state, in that order. */
function usersOf({ calls }: Want, { share }: Settings): readonly string[] {
  if (share === 100) return [];
  return [...new Set(calls.map(({ subject }) => subject))].filter((subject) => subject !== '');
}

/** The verdicts on the calls of one want: `allowed` says of those that could begin whether Redis agrees, in their order. */
export function judge(
  want: Want,
  verdicts: readonly Verdict[],
  allowed: readonly boolean[],
  states: TakeStates,
  settings: Settings,
): readonly Verdict[] {
  const windows = settings.windows[want.account.surface] ?? [];
  const all = statesFrom(states[0] ?? [], windows, 100);
  const users = usersOf(want, settings);
  const waiting = new Map<string, number>();
  let asked = 0;
  let waitingOfAll = 0;
  return verdicts.map((verdict, index) => {
    if (verdict.kind === 'begin') {
      asked += 1;
      if (allowed[asked - 1] === true) return verdict;
    }
    const subject = want.calls[index]?.subject ?? '';
    const waitingOfUser = (waiting.get(subject) ?? 0) + 1;
    waiting.set(subject, waitingOfUser);
    waitingOfAll += 1;
    if (verdict.kind === 'prove') return verdict;
    const own = statesFrom(states[users.indexOf(subject) + 1] ?? [], windows, settings.share);
    const share = users.includes(subject) ? waitMs(own, waitingOfUser) : 0;
    const turnMs = Math.max(waitMs(all, waitingOfAll), share, verdict.kind === 'wait' ? verdict.turnMs : 0);
    return { kind: 'wait', turnMs };
  });
}

/** What is known of an account that `count` calls are asked about. */
export function outlookFrom(want: Want, count: number, states: TakeStates, settings: Settings): Outlook {
  const windows = settings.windows[want.account.surface] ?? [];
  const all = statesFrom(states[0] ?? [], windows, 100);
  const own = usersOf(want, settings).length === 0 ? [] : statesFrom(states[1] ?? [], windows, settings.share);
  return outlookOf({ all, own }, count);
}

/** The states of the windows of one set, each as the script answers it: count, when it is empty, when its first calls leave. */
function statesFrom(
  told: TakeStates[number],
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

/** The calls among verdicts that may begin. */
export function begunIn(verdicts: readonly Verdict[]): readonly CountedCall[] {
  return verdicts.flatMap((verdict) => (verdict.kind === 'begin' ? [verdict.call] : []));
}
