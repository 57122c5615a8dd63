/** chart.svg: the CPU time of an operation, a panel a scenario, a bar a gateway. Readable on light and dark pages. */
import { type GatewayName, gatewayNames } from '../gateways/table.ts';
import { type ScenarioName, scenarioTitles } from '../scenarios/names.ts';
import { cpuRatio, figuresAt } from './lookup.ts';
import type { Results } from './results.ts';
import { number } from './text.ts';

const labels: Readonly<Record<GatewayName, string>> = {
  floor: 'by hand',
  ours: 'this gateway',
  mercurius: 'Mercurius',
  tailcall: 'Tailcall',
  grafast: 'Grafast',
  yoga: 'Yoga',
  apollo: 'Apollo',
  hive: 'Hive',
};

const scenarios: readonly ScenarioName[] = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'];

const panelWidth = 300;
const gap = 28;
const labelWidth = 90;
const valueWidth = 90;
const barHeight = 12;
const barStep = 20;
const headHeight = 46;
const top = 58;
const panelHeight = headHeight + gatewayNames.length * barStep + gap;

/** Bars longer than this many times the floor are cut off. */
const longest = 8;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #57606a }
  .title { font-size: 15px; font-weight: 600; fill: #24292f }
  .name { font-weight: 600; fill: #24292f }
  .own { font-weight: 600; fill: #0a5cbf }
  rect { fill: #afb8c1 }
  .floor { fill: #d0d7de }
  .ours { fill: #1f7ae0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title, .name { fill: #f0f6fc }
    .own { fill: #79b8ff }
    rect { fill: #57606a }
    .floor { fill: #3d444d }
    .ours { fill: #4493f8 }
  }`;

/** The chart of the results. */
export function chartOf(results: Results): string {
  const width = 3 * panelWidth + 4 * gap;
  const height = top + 2 * panelHeight;
  const panels = scenarios.map((scenario, index) => {
    const x = gap + (index % 3) * (panelWidth + gap);
    const y = top + Math.floor(index / 3) * panelHeight;
    return `<g transform="translate(${x} ${y})">\n${panel(results, scenario)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="CPU time of an operation, by gateway">
<style>${style}
</style>
<text class="title" x="${gap}" y="26">CPU time of an operation, in microseconds</text>
<text x="${gap}" y="44">and how many times that of a server written by hand; warm processes, ${results.machine.date}, commit ${results.machine.commit}</text>
${panels.join('\n')}
</svg>
`;
}

function panel(results: Results, scenario: ScenarioName): string {
  const [head = '', ...rest] = scenarioTitles[scenario].split(': ');
  const bars = gatewayNames.map((gateway, index) => bar(results, scenario, gateway, headHeight + index * barStep));
  return `<text class="name" y="12">${scenario} ${head}</text>
<text y="28">${escaped(rest.join(': '))}</text>
${bars.join('\n')}`;
}

function bar(results: Results, scenario: ScenarioName, gateway: GatewayName, y: number): string {
  const place = { gateway, series: 'distinct', scenario } as const;
  const figures = figuresAt(results, place);
  const times = cpuRatio(results, place, 'floor');
  const own = gateway === 'ours' ? ' class="own"' : '';
  const label = `<text${own} x="${labelWidth - 8}" y="${y + 10}" text-anchor="end">${labels[gateway]}</text>`;
  if (figures === undefined || times === undefined) return `${label}<text x="${labelWidth}" y="${y + 10}">–</text>`;
  const room = panelWidth - labelWidth - valueWidth;
  const length = Math.max((Math.min(times, longest) / longest) * room, 2);
  const end = labelWidth + length;
  const shape = (x: number, width: number): string =>
    `<rect class="${gateway}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${barHeight}" rx="2"/>`;
  // One that is cut off has a gap before its end.
  const shapes = times > longest ? shape(labelWidth, length - 12) + shape(end - 8, 8) : shape(labelWidth, length);
  const value = gateway === 'floor' ? number(figures.cpu) : `${number(figures.cpu)} · ${times.toFixed(1)}×`;
  return `${label}${shapes}<text${own} x="${(end + 6).toFixed(1)}" y="${y + 10}">${value}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
