import type { GraphQLError } from 'graphql';
import type { Plan } from '../plan/plan.ts';
import type { BudgetCounts } from '../rest/budget/budget-counts.ts';
import type { CallBudget, Needs, Outlooks } from '../rest/budget/call-budget.ts';
import { surfaces } from '../rest/budget/settings.ts';
import type { Caller } from '../rest/caller.ts';
import { operations } from '../rest/generated/views.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { BudgetStatus, Cost } from './cost.ts';
import type { Spared } from './dry-run.ts';
import { requestError } from './request-error.ts';
import type { OperationResult } from './result.ts';

/** Settings of the spending. */
export interface SpendingOptions {
  readonly budget: CallBudget;
  readonly counts: Pick<BudgetCounts, 'refused' | 'found'>;
  /** How long a call of which so many milliseconds are left waits for its place, in milliseconds. */
  readonly waitMs: (leftMs: number, isWrite: boolean) => number;
}

/** An operation that is about to run. */
export interface Spender {
  readonly caller: Caller;
  readonly cost: Cost;
  readonly isMutation: boolean;
  /** How many of the calls that it surely needs are answered without one, by surface. */
  readonly answered: () => Needs;
  /** The same of what it has never read before, which takes longer to find out. */
  readonly tryCache: () => Promise<Spared>;
}

/** What operations spend of the budget of their key. */
export class Spending {
  readonly #options: SpendingOptions;

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  /** Why an operation is refused before its first call: what it surely needs cannot be had in time. */
  refusalOf(
    spender: Spender,
    { endsAt }: Pick<OperationDeadline, 'endsAt'>,
  ): GraphQLError | undefined | Promise<GraphQLError | undefined> {
    const { caller, cost, isMutation, answered } = spender;
    const limitMs = this.#options.waitMs(endsAt - performance.now(), isMutation);
    const judge = (left: Outlooks): GraphQLError | undefined | Promise<GraphQLError | undefined> => {
      this.#options.counts.found(left);
      if (isPlenty(left, cost.mostCalls())) return undefined;
      const needs = needsOf(cost.plan(), answered);
      if (surfaces.every((surface) => (needs[surface] ?? 0) === 0)) return undefined;
      const outlooks = this.#look(caller, needs);
      const refuse = (known: Outlooks): ReturnType<typeof judge> => {
        const shortage = shortageIn(known, needs, limitMs);
        return shortage && this.#reconsider(spender, { shortage, known, needs, limitMs });
      };
      return outlooks instanceof Promise ? outlooks.then(refuse) : refuse(outlooks);
    };
    const left = this.#look(caller, everySurface);
    return left instanceof Promise ? left.then(judge) : judge(left);
  }

  /**
   * The result of an operation, with what is left of the surfaces that it has touched; if its client wants to know the cost,
   * that names those in its plan, whether they were called or not.
   */
  async withStatus(
    caller: Caller,
    cost: Cost,
    made: Promise<OperationResult> | OperationResult,
  ): Promise<OperationResult> {
    const result = await made;
    const touched = cost.calls.surfaces;
    const planned = cost.wantsCost ? cost.plan()?.calls.map(({ operation }) => operations[operation].surface) : [];
    const asked = new Set([...touched, ...(planned ?? [])]);
    if (asked.size === 0) return result;
    const zeros = Object.fromEntries([...asked].map((surface) => [surface, 0]));
    const statuses = statusesOf(await this.#look(caller, zeros));
    const rateLimits = statuses.filter(({ surface }) => touched.has(surface));
    if (!cost.wantsCost) return { ...result, rateLimits };
    cost.budget = statuses;
    return { ...result, rateLimits, extensions: cost.extensions() };
  }

  #look({ sharingKey: key, subject = '' }: Caller, needs: Needs): Promise<Outlooks> | Outlooks {
    return this.#options.budget.look({ key, subject }, needs);
  }

  /** Refuses an operation for want of calls, unless it turns out that the cache spares it those. */
  async #reconsider(spender: Spender, judgement: Judgement): Promise<GraphQLError | undefined> {
    const { caller, cost, answered, tryCache } = spender;
    const { needs, limitMs } = judgement;
    const spared = await tryCache();
    if (spared.isAll) return undefined;
    const fewer = needsOf(cost.plan(), () => most(spared.answered, answered()));
    if (totalOf(fewer) === totalOf(needs)) return this.#refuse(cost, judgement);
    const known = await this.#look(caller, fewer);
    const shortage = shortageIn(known, fewer, limitMs);
    return shortage && this.#refuse(cost, { shortage, known, needs: fewer, limitMs });
  }

  #refuse(cost: Cost, { shortage: { surface: scarce, error }, known, needs }: Judgement): GraphQLError {
    this.#options.counts.refused(scarce);
    cost.budget = statusesOf(known).filter(({ surface }) => (needs[surface] ?? 0) > 0);
    return error;
  }
}

/** Why an operation is to be refused. */
interface Judgement {
  readonly shortage: Shortage;
  /** What is known of the surfaces. */
  readonly known: Outlooks;
  readonly needs: Needs;
  /** How long it can wait, in milliseconds. */
  readonly limitMs: number;
}

/** A surface without the calls that an operation needs, and the error that says so. */
interface Shortage {
  readonly surface: Surface;
  readonly error: GraphQLError;
}

function shortageIn(outlooks: Outlooks, needs: Needs, limitMs: number): Shortage | undefined {
  for (const [surface, { windows, turnMs }] of outlooks) {
    const count = needs[surface] ?? 0;
    const tooSmall = windows.find(({ limit }) => count > limit);
    if (count === 0 || (tooSmall === undefined && turnMs < limitMs)) continue;
    const needed = `The operation needs at least ${count} REST ${count === 1 ? 'call' : 'calls'} of the surface ${surface}`;
    if (tooSmall !== undefined || turnMs === Number.POSITIVE_INFINITY) {
      const { limit, ms } = tooSmall ?? windows[0] ?? { limit: 0, ms: 0 };
      const message = `${needed}, more than the ${limit} in ${ms / 1000} seconds that it may make.`;
      return { surface, error: requestError('spentBudget', message) };
    }
    const retryAfter = Math.ceil(turnMs / 1000);
    const wait = { details: { retryAfter }, headers: { 'retry-after': String(retryAfter) } };
    const message = `${needed}, which can be made in ${retryAfter} seconds at the earliest.`;
    return { surface, error: requestError('spentBudget', message, wait) };
  }
  return undefined;
}

/** What an operation surely has to call. */
function needsOf(plan: Plan | undefined, answered: () => Needs): Needs {
  // If no call is certain, one field that is refused may keep all others from running.
  if (plan === undefined || plan.lower === 0) return {};
  const known = answered();
  const needs: Partial<Record<Surface, number>> = {};
  for (const { operation, lower } of plan.calls) {
    const { surface } = operations[operation];
    needs[surface] = (needs[surface] ?? 0) + lower;
  }
  for (const surface of surfaces) needs[surface] = Math.max(0, (needs[surface] ?? 0) - (known[surface] ?? 0));
  return needs;
}

/** The larger number of each surface. */
function most(some: Needs, others: Needs): Needs {
  return Object.fromEntries(surfaces.map((surface) => [surface, Math.max(some[surface] ?? 0, others[surface] ?? 0)]));
}

function totalOf(needs: Needs): number {
  return surfaces.reduce((total, surface) => total + (needs[surface] ?? 0), 0);
}

function statusesOf(outlooks: Outlooks): readonly BudgetStatus[] {
  return [...outlooks].flatMap(([surface, { windows }]) =>
    windows.map(({ ms, limit, remaining, resetsInMs }) => ({
      ...{ surface, limit, remaining },
      window: ms / 1000,
      resetsIn: Math.ceil(resetsInMs / 1000),
    })),
  );
}

/** Asks what is left of every surface. */
const everySurface: Needs = Object.fromEntries(surfaces.map((surface) => [surface, 0]));

/** Whether an operation with at most so many calls finds as many on every surface: then its plan is not needed. */
function isPlenty(outlooks: Outlooks, mostCalls: number): boolean {
  for (const { windows } of outlooks.values()) {
    if (windows.some(({ remaining }) => remaining < mostCalls)) return false;
  }
  return true;
}
