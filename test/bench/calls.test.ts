import { describe, expect, test } from 'vitest';
import { fetchData, fetchFacts, registrationOf } from '../../bench/gateways/ask.ts';
import { readCursors } from '../../bench/gateways/running.ts';
import { gatewayNames, gateways } from '../../bench/gateways/table.ts';
import { readCallCounts } from '../../bench/report/call-counts.ts';
import { scenarioNames } from '../../bench/scenarios/names.ts';
import { ourQuestions } from '../../bench/scenarios/ours.ts';
import { variantOf } from '../../bench/scenarios/variants.ts';
import { startBenchUpstream } from '../../bench/upstream/server.ts';
import { startGateway } from '../support/gateway.ts';

const recorded = readCallCounts();
const peers = gatewayNames.filter((name) => name !== 'ours' && name !== 'floor');

describe.each(scenarioNames)('REST calls of the operation %s in bench/', (scenario) => {
  const { ours = NaN, floor, ...others } = recorded[scenario] ?? {};

  test('are as many as recorded, whichever objects it asks for and however often', async () => {
    const question = ourQuestions[scenario] ?? { query: '' };
    await using upstream = await startBenchUpstream();
    await using gateway = await startGateway(upstream);
    const cursors = question.query.includes('$after') ? await readCursors(gateway.url) : [];
    if (scenario === 'persisted') await fetchData(gateway.url, registrationOf(scenario, question, variantOf(0, [])));
    for (const index of [0, 3, 42, 42]) {
      upstream.reset();
      await fetchFacts(gateway.url, scenario, question, variantOf(index, cursors));
      expect(upstream.targets).toHaveLength(ours);
    }
    expect(gateway.reported).toEqual([]);
  });

  test('are the needed ones, and never more than those of any peer that can answer it', () => {
    expect(ours).toBe(floor);
    const able = peers.filter((name) => gateways[name].questions[scenario] !== undefined);
    expect(Object.keys(others).toSorted()).toEqual(able.toSorted());
    for (const calls of Object.values(others)) expect(calls).toBeGreaterThanOrEqual(ours);
  });
});

test.each(['duplicates', 'aliases', 'totals', 'views', 'known', 'keys'] as const)(
  'every peer makes more REST calls than this gateway for the operation %s in bench/',
  (scenario) => {
    const { ours = NaN, floor: _, ...others } = recorded[scenario] ?? {};
    expect(Math.min(...Object.values(others))).toBeGreaterThan(ours);
  },
);
