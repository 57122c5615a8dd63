import { counter, type Instruments } from './instruments.ts';

/** More names of tools and results than manifests have, even if they are read anew again and again. */
const mostSeries = 10_000;

/** Makes the metric of uses of tools; the function that it returns counts one. */
export function measureTools(instruments: Instruments): (tool: string, result: string) => void {
  const series = new Map<string, { readonly tool: string; readonly result: string; count: number }>();
  counter(
    instruments,
    'gateway_mcp_calls_total',
    'Uses of tools by agents, by tool and by what became of them.',
    ['tool', 'result'],
    () => [...series.values()].map(({ tool, result, count }) => [{ tool, result }, count]),
  );
  return (tool, result) => {
    const name = `${tool} ${result}`;
    const known = series.get(name);
    if (known !== undefined) known.count += 1;
    else if (series.size < mostSeries) series.set(name, { tool, result, count: 1 });
  };
}
