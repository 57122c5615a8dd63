/** Checks that gateways give the same answers. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../test/support/replies.ts';
import { type ScenarioName, scenarioNames } from '../scenarios/names.ts';
import { fetchFacts } from './ask.ts';
import type { RunningGateway } from './running.ts';
import { type GatewayName, gateways } from './table.ts';

/** Compares what gateways answer with what the first one that was asked answered. */
export interface Agreement {
  /** Asks for a variant of a scenario. Throws if the answer says something else, or holds errors. */
  check(name: GatewayName, gateway: RunningGateway, scenario: ScenarioName, index: number): Promise<void>;
  /** Checks one variant of every scenario that the gateway can answer. */
  checkAll(name: GatewayName, gateway: RunningGateway): Promise<void>;
}

/** Starts with nothing to agree with. */
export function createAgreement(): Agreement {
  const facts = new Map<string, Json>();
  const agreement: Agreement = {
    check: async (name, gateway, scenario, index) => {
      const question = gateways[name].questions[scenario];
      if (question === undefined) return;
      const answer = await fetchFacts(gateway.url, scenario, question, gateway.variant(index));
      const place = `${scenario} ${index}`;
      if (!facts.has(place)) facts.set(place, answer);
      if (isDeepStrictEqual(facts.get(place), answer)) return;
      throw new Error(`${name} answers ${place} otherwise: ${JSON.stringify(answer).slice(0, 1500)}`);
    },
    checkAll: async (name, gateway) => {
      for (const scenario of scenarioNames) await agreement.check(name, gateway, scenario, 3);
    },
  };
  return agreement;
}
