import { expect, test, vi } from 'vitest';
import { Cost } from '../../src/operation/cost.ts';
import { startBoth } from '../support/both.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { project } from '../support/rows.ts';

test.each(['v0.2', '20220824'] as const)(
  'an answer in parts of %s is cut if not even its last part can be made, and its operation ends',
  async (format) => {
    const release = Promise.withResolvers<void>();
    const page = { count: 0, next: null, previous: null, results: [] };
    const { gateway } = await startBoth({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/dashboards/': () => release.promise.then(() => page),
    });
    const broken = new Error('broken');
    vi.spyOn(Cost.prototype, 'extensions').mockImplementation(() => {
      throw broken;
    });
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const { parts } = await askForParts(gateway.url, query, accepts[format]);
    expect(await parts.next()).toMatchObject({ value: { data: { project: { name: 'Project 1' } } } });
    release.resolve();
    await expect(parts.next()).rejects.toThrow('terminated');
    const metrics = await gateway.gateway.metrics.render();
    expect(metrics).toContain('gateway_operations_in_flight 0');
    expect(metrics).toContain('gateway_operations_total{code="INTERNAL_SERVER_ERROR"} 1');
    expect(new Set(gateway.reported)).toEqual(new Set([broken]));
  },
);
