import { expect, test } from 'vitest';
import { runPanelScripts } from '../support/panel-scripts.ts';

/** The panel's functions, and its state. */
interface Panel {
  readonly open: () => void;
  readonly takeTabs: (state: { readonly tabs: readonly object[]; readonly activeTabIndex: number }) => void;
  readonly snapshot: () => Readonly<Record<string, unknown>>;
}

/** The panel over a gateway that answers each request for a plan at once, and the requests. Pauses take no time. */
function openPanel() {
  const posted: unknown[] = [];
  const fetch = async (_url: string, { body }: { readonly body: string }): Promise<Response> => {
    posted.push(JSON.parse(body));
    return Response.json({ data: null, extensions: { explain: { upper: posted.length } } });
  };
  const globals: { panel?: Panel } & Record<string, unknown> = {
    ...{ AbortController, URL, Response, setTimeout: setImmediate, clearTimeout: clearImmediate },
    settings: { demoKey: '', takesTokens: false, graphiql: { defaultTabs: [] } },
    window: { fetch },
    localStorage: { getItem: () => null },
    sessionStorage: { getItem: () => null },
    location: { href: 'http://127.0.0.1/graphql', pathname: '/graphql' },
  };
  runPanelScripts(
    ['../requests', '../tabs', 'open-tab', 'plan-requests', 'runs', 'panel-state'],
    'panel = new PanelState()',
    globals,
  );
  const { panel } = globals;
  if (panel === undefined) throw new Error('expected a panel');
  panel.open();
  return { panel, posted };
}

test('another tab with the same text has its plan, too', async () => {
  const { panel, posted } = openPanel();
  const tabs = ['a', 'b'].map((id) => ({ id, query: '{ projects { totalCount } }' }));
  panel.takeTabs({ tabs, activeTabIndex: 0 });
  await expect.poll(() => panel.snapshot()).toMatchObject({ isAsking: false, plan: { upper: 1 } });
  panel.takeTabs({ tabs, activeTabIndex: 1 });
  expect(panel.snapshot()).toMatchObject({ isAsking: true, plan: undefined });
  await expect.poll(() => panel.snapshot()).toMatchObject({ isAsking: false, plan: { upper: 2 } });
  expect(posted).toHaveLength(2);
});

test('what changes in a tab beside its operation asks for no plan', async () => {
  const { panel, posted } = openPanel();
  const tab = { id: 'a', query: '{ projects { totalCount } }' };
  panel.takeTabs({ tabs: [tab], activeTabIndex: 0 });
  await expect.poll(() => panel.snapshot()).toMatchObject({ plan: { upper: 1 } });
  panel.takeTabs({ tabs: [{ ...tab, title: 'other' }], activeTabIndex: 0 });
  expect(panel.snapshot()).toMatchObject({ isAsking: false, plan: { upper: 1 } });
  expect(posted).toHaveLength(1);
});
