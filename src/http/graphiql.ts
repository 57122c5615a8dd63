import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Complete, compressedOnce, type Variants } from './compression.ts';
import { examples, explainExample } from './graphiql-examples.ts';
import { explainScript } from './graphiql-explain.ts';
import { tabsScript, tabsStyle } from './graphiql-tabs.ts';
import { createSend, type SendOptions } from './send.ts';

/** What GraphiQL opens with, and how it is sent. */
export interface GraphiqlOptions extends SendOptions {
  /** The key that the headers tab starts with; only for the embedded workspace, whose key is public. */
  readonly demoKey?: string | undefined;
  /** Whether clients may see which REST calls an operation makes. */
  readonly explain: boolean;
}

/** Answers browsers that open the endpoint; false: the request is for somebody else. */
export type Graphiql = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Serves GraphiQL with everything it needs within one page, so that it works without internet. The page may run its own
 * scripts, known by their hashes, and talk to nobody but this gateway.
 */
export function createGraphiql(options: GraphiqlOptions): Graphiql {
  const send = createSend({ ...options, compression: false });
  let page: Promise<Variants> | undefined;
  return (request, response) => {
    if (request.method !== 'GET' || request.headers.accept?.includes('text/html') !== true) return false;
    // Nine megabytes, loaded only where somebody looks.
    page ??= createPage(options).then((made) => (options.compression ? compressedOnce(made) : () => made));
    page
      .then((variantFor) => variantFor(request.headers['accept-encoding']))
      .then(
        ({ headers, ...variant }) => send(request, response, { ...variant, headers: { ...headers } }),
        () => response.writeHead(500).end(),
      );
    return true;
  };
}

async function createPage({ demoKey, explain }: GraphiqlOptions): Promise<Complete> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const authorization = { Authorization: `Bearer ${demoKey ?? '<your personal API key>'}` };
  const headers = JSON.stringify(authorization, null, 2);
  const tabs = examples.map(({ query, variables }) => ({ query, headers, variables: variables ?? null }));
  const planned = { ...explainExample, headers: JSON.stringify({ ...authorization, explain: 'plan' }, null, 2) };
  const rendered = renderGraphiQL({
    title: 'GraphiQL · workspace gateway',
    defaultTabs: explain ? [...tabs, planned] : tabs,
    defaultHeaders: headers,
    headers,
    shouldPersistHeaders: false,
  });
  // First of all scripts, because the others keep what they find.
  const scripts = (explain ? [explainScript, tabsScript] : [tabsScript]).map((script) => `<script>${script}</script>`);
  const html = rendered.replace('<head>', () => `<head><style>${tabsStyle}</style>${scripts.join('')}`);
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy(html),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    body: Buffer.from(html),
  };
}

/** Scripts by hash. The editor makes its styles while it runs and its workers from blobs, which no hash can foresee. */
function contentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${hash('sha256', script, 'base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    "style-src 'unsafe-inline'",
    'worker-src blob:',
    "connect-src 'self'",
    "img-src 'self' data:",
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
