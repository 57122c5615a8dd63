import { settings } from '../../src/settings/declaration.ts';

/** The headings of `.env.example`, each with the settings below it. */
const chapters: Readonly<Record<string, RegExp>> = {
  'Process and log': /^(?:HOST|PORT|METRICS_PORT|ADMIN_|WORKERS|STOP_|LOG_)/,
  'Way to the upstream': /^(?:UPSTREAM_(?:URL|CA|CLIENT|CONNECTIONS)|OPERATION_|DRIFT_|.*_PROXY$)/,
  'Sign-in': /^(?:AUTH|JWT_|UPSTREAM_KEYS|CURSOR_)/,
  'Budget and cache': /^(?:UPSTREAM_BUDGET|MCP_BUDGET|CACHE_)/,
  'What clients may use': /^(?:EXPLAIN|GRAPHIQL|CORS_|INCREMENTAL|COMPRESSION|INTROSPECTION|LIVE|MCP_TOOLS|PUBLIC_URL)/,
  'Persisted documents': /^(?:PERSISTED_|APQ)/,
  Redis: /^REDIS_/,
  Limits: /^MAX_/,
  'Embedded workspace': /^WORKSPACE_/,
};

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const parts = Object.keys(chapters).flatMap((chapter) => {
    const own = Object.entries(settings).filter(([name]) => chapterOf(name) === chapter);
    return [
      `#### ${chapter}`,
      ...own.map(
        ([name, { fallback, meaning, expected }]) =>
          `# ${meaning}.\n# Expected: ${expected}.\n# ${name}=${fallback ?? ''}`,
      ),
    ];
  });
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${parts.join('\n\n')}\n`;
}

function chapterOf(name: string): string {
  const found = Object.entries(chapters).find(([, names]) => names.test(name));
  if (found === undefined) throw new Error(`${name}: expected a heading of .env.example for it`);
  return found[0];
}
