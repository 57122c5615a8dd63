import { settings } from '../../src/settings/declaration.ts';

/** The headings of `.env.example`, each with the page that says more about the settings below it. */
const chapters: Readonly<Record<string, { readonly page?: string; readonly names: RegExp }>> = {
  'Process and log': { page: 'operations.md', names: /^(?:HOST|PORT|METRICS_PORT|ADMIN_|WORKERS|STOP_|LOG_)/ },
  'Way to the upstream': {
    page: 'operations.md#the-way-to-the-upstream',
    names: /^(?:UPSTREAM_(?:URL|CA|CLIENT|CONNECTIONS)|.*_PROXY$)/,
  },
  'Sign-in': { page: 'many-users.md#set-it-up', names: /^(?:AUTH|JWT_|UPSTREAM_KEYS|CURSOR_)/ },
  'Budget of REST calls': { page: 'call-budgets.md#set-a-budget', names: /^UPSTREAM_BUDGET/ },
  'Cache of REST answers': { page: 'call-budgets.md#cache-answers', names: /^CACHE_/ },
  Redis: { page: 'operations.md#redis', names: /^REDIS_/ },
  'What clients may use': { names: /^(?:EXPLAIN|GRAPHIQL|CORS_|COMPRESSION|INTROSPECTION)/ },
  'Answers in parts, new events': { page: 'incremental.md', names: /^(?:INCREMENTAL|LIVE)/ },
  'Persisted documents': { page: 'persisted-documents.md', names: /^(?:PERSISTED_|APQ)/ },
  Agents: { page: 'agents.md', names: /^(?:MCP_|PUBLIC_URL)/ },
  'Changes of the REST API': { page: 'drift.md', names: /^DRIFT_/ },
  Limits: { page: 'settings.md#limits', names: /^(?:MAX_|OPERATION_)/ },
  'Embedded workspace': { names: /^WORKSPACE_/ },
};

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const parts = Object.entries(chapters).flatMap(([chapter, { page }]) => {
    const own = Object.entries(settings).filter(([name]) => chapterOf(name) === chapter);
    return [
      page === undefined ? `#### ${chapter}` : `#### ${chapter}: docs/${page}`,
      ...own.map(
        ([name, { fallback, meaning, expected }]) =>
          `# ${meaning}.\n# Expected: ${expected}.\n# ${name}=${fallback ?? ''}`,
      ),
    ];
  });
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${parts.join('\n\n')}\n`;
}

function chapterOf(name: string): string {
  const found = Object.entries(chapters).find(([, { names }]) => names.test(name));
  if (found === undefined) throw new Error(`${name}: expected a heading of .env.example for it`);
  return found[0];
}
