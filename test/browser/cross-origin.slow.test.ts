import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startBrowser, type TestBrowser } from '../support/browser.ts';
import { key, startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { quick } from '../support/live.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** An empty page of an origin of its own. */
async function startPage(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>A page'));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const follow = 'subscription { eventsAdded(projectId: 1) { gap } }';
const deferring = '{ project(id: 1) { name ... @defer { timezone } } }';
const manyTypes =
  'multipart/mixed;incrementalSpec=v0.2, multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json;q=0.9';

describe.skipIf(!hasChromium)('A page of another origin that is listed (needs chromium)', { timeout: 60_000 }, () => {
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await startBrowser();
  }, 60_000);

  afterAll(() => browser[Symbol.asyncDispose]());

  test.each([
    ['multipart/mixed; subscriptionSpec="1.0"', follow, 'subscriptionSpec="1.0"'],
    ['text/event-stream', follow, 'text/event-stream'],
    ['multipart/mixed; incrementalSpec="v0.2"', deferring, 'incrementalSpec=v0.2'],
    [manyTypes, deferring, 'incrementalSpec=v0.2'],
  ])('is answered as it accepts: %s', async (accept, query, type) => {
    await using site = await startPage();
    await using upstream = await startUpstream({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/events/': { next: null, results: [] },
    });
    await using gateway = await startGateway(upstream, { corsOrigins: [site.url], live: quick });
    await using opened = await browser.open();
    const { page } = opened;
    await page.goto(site.url);
    const headers = { accept, 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const request = { method: 'POST', headers, body: JSON.stringify({ query }) };
    const answered = `fetch('${gateway.url}', ${JSON.stringify(request)}).then(({ headers }) => headers.get('content-type'))`;
    expect(await page.evaluate(answered)).toContain(type);
  });
});
