import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PersistedSettings } from '../../operation/persisted/persisted.ts';
import type { CompleteAnswer } from '../compression.ts';
import { answerHeaders } from '../response.ts';
import type { Asset, Assets } from './assets.ts';
import { examples, explainExample, tailExample } from './examples.ts';

/** Settings of the page. */
export interface PageOptions {
  /** The key or token that the page starts with; only for the embedded workspace, whose key is public. */
  readonly demoKey?: string | undefined;
  /** True if callers send a token of an identity provider instead of a key. */
  readonly takesTokens?: boolean;
  readonly explain: boolean;
  /** The limits of an operation, which the panel shows beside plans. */
  readonly maxUpstreamCalls: number;
  readonly maxUpstreamRows: number;
  readonly maxAnswerObjects: number;
  /** The settings of subscriptions; undefined if there are none. */
  readonly live?: object | undefined;
  readonly introspection: boolean;
  /** The settings that decide which documents run. */
  readonly persisted?: Pick<PersistedSettings, 'mode'>;
}

/**
 * Makes a page with GraphiQL, which works without internet. The page may run only its own scripts, which are listed by
 * their hashes, and may connect only to this gateway.
 */
export function createPage(options: PageOptions, { script, icon }: Assets): CompleteAnswer {
  const { takesTokens = false, explain } = options;
  const scripts = [
    `const settings = ${inScript(settingsOf(options))};`,
    fileText('requests.js'),
    fileText('tabs.js'),
    fileText('share.js'),
    script,
    ...(explain ? [panelScript()] : []),
    fileText('start.js'),
  ];
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL · workspace gateway</title>
<link rel="icon" href="${icon.address}">
<style>${fileText('page.css')}${explain ? fileText('plan-panel/panel.css') : ''}</style>
</head>
<body>
<header>
<h1>Workspace gateway</h1>
<label>${takesTokens ? 'Token' : 'API key'} <input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-use"></label>
<span id="key-use">kept until you close this browser tab</span>
<span id="share"><button id="copy-link" type="button">Copy link</button> <button id="copy-curl" type="button">Copy as cURL</button> <output id="told"></output></span>
${noticesOf(options)}
</header>
<main id="root"></main>
<noscript>GraphiQL needs JavaScript.</noscript>
${scripts.map(scriptElement).join('\n')}
</body>
</html>`;
  return { status: 200, headers: headersOf(scripts), body: Buffer.from(html) };
}

/** The element of a script: its text, or an asset. */
function scriptElement(script: string | Asset): string {
  if (typeof script === 'string') return `<script>${script}</script>`;
  return `<script src="${script.address}" integrity="${script.integrity}"></script>`;
}

function panelScript(): string {
  const files = ['rows', 'summary', 'open-tab', 'plan-requests', 'runs', 'panel-state', 'view', 'start'];
  return files.map((name) => fileText(`plan-panel/${name}.js`)).join('\n');
}

function settingsOf({ demoKey = '', explain, live, takesTokens = false, ...limits }: PageOptions): object {
  const tabs = [...examples, ...(live === undefined ? [] : [tailExample]), ...(explain ? [explainExample] : [])];
  return {
    demoKey,
    ...(explain && { takesTokens, limits: limitsOf(limits) }),
    graphiql: {
      title: '',
      logo: ' ',
      defaultTabs: tabs.map(({ query, variables = null, headers = null }) => ({ query, variables, headers })),
      defaultEditorToolsVisibility: 'variables',
      shouldPersistHeaders: false,
    },
  };
}

function limitsOf(options: Pick<PageOptions, 'maxUpstreamCalls' | 'maxUpstreamRows' | 'maxAnswerObjects'>): object {
  const { maxUpstreamCalls: calls, maxUpstreamRows: rows, maxAnswerObjects: objects } = options;
  return { calls, rows, objects };
}

/** Notices about features that are off, shown before a reader tries them. */
function noticesOf({ introspection, persisted }: PageOptions): string {
  const notices = [
    ...(persisted?.mode === 'only'
      ? ['Only listed documents run here: any other text, the examples included, is refused.']
      : []),
    ...(introspection ? [] : ['The schema cannot be read here, so there is no documentation and no completion.']),
  ];
  return notices.map((notice) => `<p role="note">${notice}</p>`).join('\n');
}

/** A value as a JavaScript literal that cannot end the script element. */
function inScript(value: object): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}

function fileText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function headersOf(scripts: readonly (string | Asset)[]): CompleteAnswer['headers'] {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy(scripts),
    ...answerHeaders,
    'referrer-policy': 'no-referrer',
  };
}

/**
 * The content security policy of the page. Scripts are allowed by their hashes, wherever they come from (CSP 3 §8.4:
 * Chrome 59, Firefox 116, Safari 15.6). Hashes cannot allow styles and workers: the editor makes its styles at run
 * time, and its workers from blobs.
 */
function contentSecurityPolicy(scripts: readonly (string | Asset)[]): string {
  const hashes = scripts.map((script) =>
    typeof script === 'string' ? `'sha256-${hash('sha256', script, 'base64')}'` : `'${script.integrity}'`,
  );
  return [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
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
