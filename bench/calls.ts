/**
 * Counts the REST calls of one operation of each scenario, for every gateway, and writes them to bench/calls.json. The
 * answers must say the same as the floor's. A peer that is not installed is installed first; one that cannot run here
 * keeps the counts that were recorded before.
 *
 *   node bench/calls.ts [--peers a,b]
 */
import { parseArgs } from 'node:util';
import { createAgreement } from './gateways/agreement.ts';
import { install, startGateway } from './gateways/running.ts';
import { type GatewayName, gatewayNames, gateways } from './gateways/table.ts';
import { type CallCounts, readCallCounts, writeCallCounts } from './report/call-counts.ts';
import { scenarioNames } from './scenarios/names.ts';
import { startBenchUpstream } from './upstream/server.ts';

/** Operations that ask for different objects; all of a scenario cost the same. */
const variants = [0, 3, 42];

const { values } = parseArgs({ options: { peers: { type: 'string' } } });
const chosen = values.peers?.split(',') ?? gatewayNames;
const agreement = createAgreement();
const counts: CallCounts = readCallCounts();

for (const name of gatewayNames) if (name === 'floor' || chosen.includes(name)) await record(name);
writeCallCounts(counts);
console.table(counts);

async function record(name: GatewayName): Promise<void> {
  install(gateways[name]);
  await using upstream = await startBenchUpstream();
  await using gateway = await startGateway(gateways[name], { upstreamUrl: upstream.url });
  await gateway.prepare();
  for (const scenario of scenarioNames) {
    if (gateways[name].questions[scenario] === undefined) continue;
    const calls = new Set<number>();
    for (const index of variants) {
      upstream.reset();
      await agreement.check(name, gateway, scenario, index);
      calls.add(upstream.calls);
      if (upstream.withoutKey > 0) throw new Error(`${name} does not pass the caller's key on`);
    }
    const [count, ...others] = calls;
    if (others.length > 0) throw new Error(`${name} makes ${[...calls].join(' or ')} calls for ${scenario}`);
    (counts[scenario] ??= {})[name] = count ?? 0;
  }
}
