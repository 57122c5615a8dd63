import type { Page } from 'playwright-core';
import { parseObject } from '../../workspace/json.ts';
import { startWorkspace, type WorkspaceOptions } from '../../workspace/workspace.ts';
import { freePort } from '../support/free-port.ts';
import { runScript } from '../support/process.ts';

/** The page of examples/web, started by its own script, over an upstream that can go away and come back. */
export interface Example {
  readonly url: string;
  readonly output: () => string;
  readonly upstream: { start(): Promise<void>; stop(): Promise<void> };
  /** Makes a project without dashboards and events, and gives its upstream id. */
  createProject(name: string): Promise<number>;
}

/** Opens the page as a user who has signed in. */
export async function openAs(page: Page, user: string, url: string): Promise<void> {
  await page.request.post(new URL('/login', url).href, { form: { user } });
  await page.goto(url);
}

/** Starts it over a gateway that runs nothing but the documents of the page. What has been started is disposed with `started`. */
export async function startExample(
  started: AsyncDisposableStack,
  settings: Readonly<Record<string, string>> = {},
  options: Pick<WorkspaceOptions, 'eventsPerMinute'> = {},
): Promise<Example> {
  const [port, upstreamPort] = [await freePort(), await freePort()];
  const start = (): ReturnType<typeof startWorkspace> =>
    startWorkspace({ port: upstreamPort, host: '127.0.0.1', ...options });
  let workspace = await start();
  started.defer(() => workspace.close());
  const running = started.use(
    runScript('examples/web/', 'start', {
      PORT: `${port}`,
      UPSTREAM_URL: workspace.url,
      PERSISTED_DOCUMENTS_MODE: 'only',
      NO_COLOR: '1',
      ...settings,
    }),
  );
  const [, url = ''] = await running.printed(/Local: +(\S+)/);
  await running.printed(/Gateway +http/);
  return {
    url,
    output: () => running.output(),
    upstream: {
      start: async () => {
        workspace = await start();
      },
      stop: () => workspace.close(),
    },
    createProject: async (name) => {
      const response = await fetch(`${workspace.url}/api/projects/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${workspace.demoKey}` },
        body: JSON.stringify({ name }),
      });
      return Number(parseObject(await response.text())['id']);
    },
  };
}
