import { settings } from '../../src/settings/declaration.ts';

/** The headings of the page, each with the settings below it. */
const chapters: Readonly<Record<string, RegExp>> = {
  'Process and log': /^(?:HOST|PORT|METRICS_PORT|ADMIN_|WORKERS|STOP_|LOG_)/,
  'Way to the upstream': /^(?:UPSTREAM_(?:URL|CA|CLIENT|CONNECTIONS)|OPERATION_|DRIFT_|.*_PROXY$)/,
  'Sign-in': /^(?:AUTH|JWT_|UPSTREAM_KEYS|CURSOR_)/,
  'Budget and cache': /^(?:UPSTREAM_BUDGET|MCP_BUDGET|CACHE_)/,
  'What clients may use': /^(?:EXPLAIN|GRAPHIQL|CORS_|INCREMENTAL|COMPRESSION|INTROSPECTION|LIVE|MCP_TOOLS|PUBLIC_URL)/,
  'Persisted documents': /^(?:PERSISTED_|APQ)/,
  Redis: /^REDIS_/,
};

/**
 * A text whose part between the markers is the tables of settings. The page explains limits by hand, and leaves
 * the values, and settings of the embedded workspace, to `.env.example`.
 */
export function withSettingsTable(text: string): string {
  const shownHere = Object.entries(settings).filter(([name]) => !/^(?:MAX|WORKSPACE)_/.test(name));
  const rows = shownHere.map(([name, { fallback, meaning }]) => {
    // A default that depends on something is the last sentence of the meaning.
    const [what, dependent = ''] = meaning.split('. Default: ');
    const shown = fallback === undefined ? dependent : `\`${fallback}\``;
    return { chapter: chapterOf(name), row: `| \`${name}\` | ${shown} | ${what} |` };
  });
  const tables = Object.keys(chapters).map((chapter) => {
    const own = rows.filter((one) => one.chapter === chapter).map(({ row }) => row);
    return [`### ${chapter}\n`, '| Variable | Default | Meaning |', '|---|---|---|', ...own].join('\n');
  });
  const marked = /(<!-- settings -->\n)[\s\S]*?(\n<!-- end of settings -->)/;
  if (!marked.test(text)) throw new Error('expected the markers <!-- settings --> and <!-- end of settings -->');
  return text.replace(marked, (_all, start: string, end: string) => `${start}\n${tables.join('\n\n')}\n${end}`);
}

function chapterOf(name: string): string {
  const found = Object.entries(chapters).find(([, names]) => names.test(name));
  if (found === undefined) throw new Error(`${name}: expected a heading of docs/settings.md for it`);
  return found[0];
}

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const lines = Object.entries(settings).map(
    ([name, { fallback, meaning, expected }]) => `# ${meaning}.\n# Expected: ${expected}.\n# ${name}=${fallback ?? ''}`,
  );
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${lines.join('\n\n')}\n`;
}
