import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium, timeoutMs } from '../support/browser.ts';
import { readGraphiql } from '../support/graphiql.ts';
import { hasNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { execute, openGraphiql, serveAll } from './graphiql.ts';

/** A proxy that passes on one path, the endpoint, which has a path before it there. */
function startPrefix(gateway: string, around = ''): Promise<Nginx> {
  const pass = `proxy_pass ${gateway}; proxy_http_version 1.1; proxy_buffering off; ${around}`;
  return startNginx({ server: `location = /team/graphql { ${pass} } location / { return 404; }` });
}

describe.skipIf(!hasChromium || !hasNginx)(
  'The script of GraphiQL (needs chromium, nginx)',
  { timeout: 60_000 },
  () => {
    const served = serveAll();

    test('is asked for once by a browser that opens the page again and again, under a prefix and with any query', async () => {
      await using proxy = await startPrefix(served.gateway.url);
      const url = `${proxy.url}/team/graphql`;
      for (const address of [url, `${url}?query=%7B__typename%7D`, url]) {
        await using opened = await served.browser.open();
        await openGraphiql(opened, address);
        const { page, errors, origins } = opened;
        await page
          .locator('.graphiql-query-editor')
          .getByText('__typename')
          .or(page.getByText('Overview'))
          .first()
          .waitFor();
        await page.reload();
        await page.locator('.graphiql-tab-button').first().waitFor();
        expect(await execute(page)).toHaveProperty('data');
        expect(errors).toEqual([]);
        expect([...origins]).toEqual([proxy.url]);
      }
      const { script, icon } = await readGraphiql(url);
      const gets = (await proxy.accessLog()).filter((line) => line.startsWith('GET ') && !line.includes(icon));
      expect(gets.filter((line) => line.includes('graphiql='))).toEqual([`GET ${script} 200`]);
      // One for each load of the page, and the test's own.
      expect(gets.filter((line) => !line.includes('graphiql='))).toHaveLength(7);
    });

    test('is the only one that runs beside those in the page', async () => {
      await using opened = await served.browser.open();
      await openGraphiql(opened, served.gateway.url);
      const { page } = opened;
      const own = String(await page.evaluate('document.querySelector("script[src]").src'));
      const elsewhere = 'data:text/javascript,window.ran=1';
      for (const make of [
        'script.textContent = "window.ran=1"',
        `script.src = ${JSON.stringify(elsewhere)}`,
        `script.src = ${JSON.stringify(`${served.gateway.url}?query={__typename}`)}`,
        // The address is allowed by nothing but its hash.
        `script.src = ${JSON.stringify(own)}`,
        'script.src = "https://elsewhere.example/script.js"',
      ]) {
        expect([make, await violated(page, make)]).toEqual([make, 'script-src-elem']);
      }
      expect(await page.evaluate('window.ran')).toBeUndefined();
    });

    test('of another version is missed without harm: the page asks to be loaded again', async () => {
      await using proxy = await startPrefix(served.gateway.url, 'if ($arg_graphiql) { return 404; }');
      await using opened = await served.browser.openApart();
      const { page, picture } = opened;
      await page.goto(`${proxy.url}/team/graphql`);
      await page
        .getByRole('alert')
        .getByText('GraphiQL could not be loaded. Reload the page')
        .waitFor({ timeout: timeoutMs });
      await picture('graphiql-missing');
      expect(await page.getByRole('banner').getByLabel('API key').isVisible()).toBe(true);
    });
  },
);

/** The directive of the page's policy that keeps a further script from running; undefined if none does. */
async function violated(page: Page, make: string): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    const script = document.createElement('script');
    document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), { once: true });
    script.addEventListener('load', () => resolve());
    ${make};
    document.body.append(script);
  })`);
}
