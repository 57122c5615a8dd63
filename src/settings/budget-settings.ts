import { type BudgetSettings, type BudgetWindow, type BudgetWindows, surfaces } from '../rest/budget/settings.ts';
import type { Surface } from '../rest/operation-ids.ts';
import { authSettings } from './auth-settings.ts';
import { optional, required, type SettingsReader } from './reader.ts';
import { Fault, type Kind, oneOf, whole } from './settings.ts';

/** Settings of the budget of each upstream key. */
export const budgetSettings = {
  windows: optional(
    'UPSTREAM_BUDGET',
    windows('Most REST calls of an API key, for each surface and window. Default: no limit'),
  ),
  scope: required(
    'UPSTREAM_BUDGET_SCOPE',
    oneOf('What UPSTREAM_BUDGET limits: each API key (key), or all API keys together (all)', 'key', ['key', 'all']),
  ),
  share: required(
    'UPSTREAM_BUDGET_SHARE',
    whole('Percent of the budget that one user may use, with AUTH=jwt', '100', 1, 100),
  ),
  agentShare: required(
    'MCP_BUDGET_SHARE',
    whole('Percent of the budget that all agents of an API key may use together', '50', 1, 100),
  ),
  replicas: optional(
    'UPSTREAM_BUDGET_REPLICAS',
    whole(
      'Number of gateways. Each uses its part of the budget while Redis is down. Required with UPSTREAM_BUDGET and REDIS_URL',
      undefined,
      1,
      1000,
    ),
  ),
};

/** Reads the budget of each key; undefined if calls are not limited. */
export function readBudget(reader: SettingsReader): BudgetSettings | undefined {
  const { windows: all, ...others } = budgetSettings;
  const { scope, share, agentShare, replicas } = reader.all(others);
  if (!reader.isSet(all.name)) reader.warnOfIgnored(Object.values(others), `${all.name} is not set`);
  const budget = reader.read(all);
  if (budget === undefined) return undefined;
  if (reader.read(authSettings.auth) !== 'jwt')
    reader.warnOfIgnored([others.share], 'AUTH is not jwt: users are not known');
  if (reader.isSet('REDIS_URL')) reader.need(others.replicas, `${all.name} and REDIS_URL are set`);
  else reader.warnOfIgnored([others.replicas], 'REDIS_URL is not set: each gateway has all of the budget');
  if (!reader.isSet('MCP_TOOLS')) reader.warnOfIgnored([others.agentShare], 'MCP_TOOLS is not set');
  return Object.freeze({ windows: budget, scope, share, agentShare, replicas: replicas ?? 1 });
}

const mostCalls = 1_000_000;
const mostSeconds = 86_400;

/** Windows of calls, by surface. */
export function windows(meaning: string): Kind<BudgetWindows> {
  return {
    fallback: undefined,
    meaning,
    expected:
      'windows of calls/seconds for the surfaces events, values or rest, such as rest=480/60,4800/3600 events=240/60',
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
