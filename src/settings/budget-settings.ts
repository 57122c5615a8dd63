import { type BudgetSettings, type BudgetWindow, type BudgetWindows, surfaces } from '../rest/budget/settings.ts';
import type { Surface } from '../rest/operation-ids.ts';
import {
  ConfigError,
  type Environment,
  Fault,
  given,
  isSet,
  oneOf,
  required,
  type Setting,
  whole,
} from './settings.ts';

/** What each upstream key may call. */
export const budgetSettings = {
  UPSTREAM_BUDGET: windows('Most REST calls of a key, by surface, as calls/seconds; unset: as many as it likes'),
  UPSTREAM_BUDGET_SCOPE: oneOf('Whether each key has that budget, or all keys together', 'key', ['key', 'all']),
  UPSTREAM_BUDGET_SHARE: whole('Percent of each window that one user may use, with AUTH=jwt', '100', 1, 100),
  UPSTREAM_BUDGET_REPLICAS: whole(
    'Least number of gateways that divide the budget while Redis cannot be asked; required with UPSTREAM_BUDGET and REDIS_URL',
    undefined,
    1,
    1000,
  ),
} as const;

/** Reads what each key may call; undefined if there is no limit. */
export function readBudget(environment: Environment): BudgetSettings | undefined {
  const budget = given(environment, 'UPSTREAM_BUDGET', budgetSettings.UPSTREAM_BUDGET);
  const scope = required(environment, 'UPSTREAM_BUDGET_SCOPE', budgetSettings.UPSTREAM_BUDGET_SCOPE);
  const share = required(environment, 'UPSTREAM_BUDGET_SHARE', budgetSettings.UPSTREAM_BUDGET_SHARE);
  const setting = budgetSettings.UPSTREAM_BUDGET_REPLICAS;
  const replicas = given(environment, 'UPSTREAM_BUDGET_REPLICAS', setting);
  if (budget === undefined) return undefined;
  if (replicas === undefined && isSet(environment, 'REDIS_URL')) {
    const why = 'because UPSTREAM_BUDGET and REDIS_URL are set, but it is not set';
    throw new ConfigError(`UPSTREAM_BUDGET_REPLICAS: expected ${setting.expected}, ${why}`);
  }
  return Object.freeze({ windows: budget, scope, share, replicas: replicas ?? 1 });
}

/** What to say of settings that mean nothing beside the others. */
export function budgetWarnings(environment: Environment): readonly string[] {
  const names = ['UPSTREAM_BUDGET_SCOPE', 'UPSTREAM_BUDGET_SHARE', 'UPSTREAM_BUDGET_REPLICAS'];
  if (!isSet(environment, 'UPSTREAM_BUDGET')) {
    const idle = names.filter((name) => isSet(environment, name));
    return idle.map((name) => `${name}: it is ignored, because UPSTREAM_BUDGET is not set`);
  }
  const warnings: string[] = [];
  if (isSet(environment, 'UPSTREAM_BUDGET_SHARE') && environment['AUTH'] !== 'jwt')
    warnings.push('UPSTREAM_BUDGET_SHARE: it is ignored, because AUTH is not jwt: users are not known');
  if (isSet(environment, 'UPSTREAM_BUDGET_REPLICAS') && !isSet(environment, 'REDIS_URL'))
    warnings.push(
      'UPSTREAM_BUDGET_REPLICAS: it is ignored, because REDIS_URL is not set: each gateway has all of the budget',
    );
  return warnings;
}

/** Most calls and seconds of a window. */
const mostCalls = 1_000_000;
const mostSeconds = 86_400;

/** Windows of calls, by surface. */
export function windows(meaning: string): Setting<BudgetWindows> {
  return {
    fallback: undefined,
    meaning,
    expected: 'windows of events, values or rest, such as rest=480/60,4800/3600 events=240/60',
    read: parse,
  };
}

/** The windows of each surface. Throws a Fault. */
function parse(source: string): BudgetWindows {
  const all = new Map<Surface, readonly BudgetWindow[]>();
  for (const part of source.trim().split(/\s+/)) {
    const [name = '', list = '', ...rest] = part.split('=');
    const surface = surfaces.find((one) => one === name);
    if (surface === undefined) throw new Fault(`there is no surface ${JSON.stringify(name)}`);
    if (all.has(surface)) throw new Fault(`${surface} is there twice`);
    if (list === '' || rest.length > 0) throw new Fault(`${surface} needs calls/seconds behind one =`);
    all.set(surface, windowsOf(surface, list));
  }
  return Object.freeze(Object.fromEntries(all));
}

function windowsOf(surface: Surface, list: string): readonly BudgetWindow[] {
  const own: BudgetWindow[] = [];
  for (const text of list.split(',')) {
    const [, calls = '', seconds = ''] = /^(\d{1,7})\/(\d{1,5})$/.exec(text) ?? [];
    const [limit, ms] = [Number(calls), Number(seconds) * 1000];
    if (calls === '') throw new Fault(`${surface} has ${JSON.stringify(text)}, which is not calls/seconds`);
    if (limit < 1 || limit > mostCalls) throw new Fault(`${surface} allows ${limit} calls, not 1 to ${mostCalls}`);
    if (ms < 1 || ms > mostSeconds * 1000)
      throw new Fault(`${surface} has a window of ${seconds} seconds, not 1 to ${mostSeconds}`);
    if (own.some((window) => window.ms === ms)) throw new Fault(`${surface} has two windows of ${seconds} seconds`);
    own.push({ limit, ms });
  }
  return own.toSorted((a, b) => a.ms - b.ms);
}
