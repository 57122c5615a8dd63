/** The growth of costs: per row, per relation of a fan-out, per operation under way at a time. */
import { gateways } from '../gateways/table.ts';
import { grownGateways, sizes } from '../measure/points.ts';
import { figuresAt } from './lookup.ts';
import type { Figures, Results } from './results.ts';
import { number, table } from './text.ts';

interface Growth {
  readonly title: string;
  readonly series: keyof typeof sizes;
  readonly scenario: 'S5' | 'S3' | 'S2';
  readonly cell: (figures: Figures) => string;
}

const perPart = ({ cpu, size }: Figures): string => `${number(cpu)} (${number(cpu / size)})`;

const growths: readonly Growth[] = [
  { title: 'Rows of S5: microseconds of CPU an operation (a row)', series: 'rows', scenario: 'S5', cell: perPart },
  {
    title: 'Projects of S3, each with a call of its own: microseconds of CPU an operation (a project)',
    series: 'fanOut',
    scenario: 'S3',
    cell: perPart,
  },
  {
    title: 'Operations of S2 at a time: microseconds of CPU an operation (milliseconds of half of them; peak MiB)',
    series: 'concurrency',
    scenario: 'S2',
    cell: ({ cpu, p50, memory }) => `${number(cpu)} (${number(p50)}; ${number(memory)})`,
  },
];

/** The part of RESULTS.md on growth. */
export function growthSection(results: Results): string {
  return `## How costs grow\n\n${growths.map((growth) => `${growth.title}:\n\n${growthTable(results, growth)}`).join('\n\n')}`;
}

function growthTable(results: Results, { series, scenario, cell }: Growth): string {
  const rows = grownGateways.map((gateway) => {
    const cells = sizes[series].map((size) => {
      const figures = figuresAt(results, { gateway, series, scenario, size });
      return figures === undefined ? '–' : cell(figures);
    });
    return [gateways[gateway].title, ...cells];
  });
  return table(['', ...sizes[series].map(String)], rows);
}
