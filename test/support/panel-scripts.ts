import { readFileSync } from 'node:fs';
import { type Context, runInNewContext } from 'node:vm';

const folder = new URL('../../src/http/graphiql/plan-panel/', import.meta.url);

/**
 * Runs scripts of the panel "REST calls" of GraphiQL as its page does, one behind the other, and `use` behind them. They see
 * nothing but what `globals` has.
 */
export function runPanelScripts(names: readonly string[], use: string, globals: Context): void {
  const texts = names.map((name) => readFileSync(new URL(`${name}.js`, folder), 'utf8'));
  runInNewContext([...texts, use].join('\n'), globals);
}
