import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { CompleteAnswer } from '../compression.ts';
import { answerHeaders } from '../response.ts';

/** A large part of the page, which browsers keep because its address names its content. */
export interface Asset {
  readonly name: string;
  /**
   * The address for the page. It is a query alone, so it leads to the page's own path. Proxies pass that path on, with
   * any prefix that they give it, even if they pass on no path below it.
   */
  readonly address: string;
  /** Its hash, as the attribute `integrity` and the content security policy have it. */
  readonly integrity: string;
  readonly answer: CompleteAnswer;
}

/** The assets of the page. */
export interface Assets {
  /**
   * GraphiQL's script. It also declares `workers` and `styles`, texts of which the page makes the workers and the style
   * sheet: the content security policy could allow them by an address only together with all others of this origin.
   */
  readonly script: Asset;
  readonly icon: Asset;
}

/** The contents of the assets. */
interface Contents {
  readonly script: Uint8Array<ArrayBuffer>;
  readonly icon: Uint8Array<ArrayBuffer>;
}

/** The code of a thread that sends what `readContents` of this module returns. */
const sendContents = `
  const { parentPort, workerData: { url, hasPanel } } = require('node:worker_threads');
  import(url).then(async ({ readContents }) => {
    const contents = await readContents(hasPanel);
    parentPort.postMessage(contents, Object.values(contents).map(({ buffer }) => buffer));
  });`;

/**
 * Makes the assets of the page. `hasPanel` is true if the page has the panel "REST calls". A thread reads them: that
 * takes 250 ms, and makes texts of 40 MB, which would stay with the modules that have them. They end with the thread.
 */
export async function createAssets(hasPanel: boolean): Promise<Assets> {
  const thread = new Worker(sendContents, { eval: true, workerData: { url: import.meta.url, hasPanel } });
  const { script, icon } = await new Promise<Contents>((resolve, reject) => {
    thread.once('message', resolve).once('error', reject);
    // With `--unhandled-rejections=warn`, a thread that fails just ends.
    thread.once('exit', () => reject(new Error("the thread that reads GraphiQL's script ended without it")));
  });
  return { script: assetOf('text/javascript; charset=utf-8', script), icon: assetOf('image/x-icon', icon) };
}

/**
 * Reads the contents of the assets. Called by `sendContents` alone.
 * @public
 */
export async function readContents(hasPanel: boolean): Promise<Contents> {
  const [{ bundleWith }, { css, favicon, editorWorkerService, jsonWorker: json, graphqlWorker: graphql }] =
    await Promise.all([import('./bundle.ts'), import('@graphql-yoga/render-graphiql/graphiql')]);
  const script = [
    `const workers = ${JSON.stringify({ editorWorkerService, json, graphql })};`,
    `const styles = ${JSON.stringify(css)};`,
    bundleWith(hasPanel),
  ].join('\n');
  const [, icon] = favicon.split('data:image/x-icon;base64,');
  if (icon === undefined) throw new Error('expected an icon of the type image/x-icon beside the GraphiQL bundle');
  return { script: Buffer.from(script), icon: Buffer.from(icon, 'base64') };
}

function assetOf(type: string, { buffer }: Uint8Array<ArrayBuffer>): Asset {
  const body = Buffer.from(buffer);
  const digest = hash('sha256', body, 'buffer');
  const name = digest.toString('base64url');
  return {
    name,
    address: `?graphiql=${name}`,
    integrity: `sha256-${digest.toString('base64')}`,
    answer: {
      status: 200,
      headers: { 'content-type': type, ...answerHeaders, 'cache-control': 'public, max-age=31536000, immutable' },
      body,
    },
  };
}
