/** Figures by place. */
import type { GatewayName } from '../gateways/table.ts';
import type { Series } from '../measure/points.ts';
import type { ScenarioName } from '../scenarios/names.ts';
import { type Figures, figuresOf, type Results } from './results.ts';

/** The place of figures: which gateway, under which conditions, at which scenario. */
export interface Place {
  readonly gateway: GatewayName;
  readonly series: Series;
  readonly scenario: ScenarioName;
  readonly size?: number;
}

/** The figures of a place; undefined if nothing was measured. */
export function figuresAt({ samples }: Results, place: Place): Figures | undefined {
  const { gateway, series, scenario, size = 0 } = place;
  return figuresOf(
    samples.filter(
      (sample) =>
        sample.gateway === gateway && sample.series === series && sample.scenario === scenario && sample.size === size,
    ),
  );
}

/** The CPU time that a gateway needs, as a multiple of that of `other` at the same place. */
export function cpuRatio(results: Results, place: Place, other: GatewayName): number | undefined {
  const one = figuresAt(results, place)?.cpu;
  const base = figuresAt(results, { ...place, gateway: other })?.cpu;
  return one === undefined || base === undefined ? undefined : one / base;
}
