import { hash } from 'node:crypto';
import { css, editorWorkerService, favicon, graphqlWorker, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql';
import type { CompleteAnswer } from '../compression.ts';
import { answerHeaders } from '../response.ts';
import { bundleWith } from './bundle.ts';

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

/** Makes the assets of the page. `hasPanel` is true if the page has the panel "REST calls". */
export function createAssets(hasPanel: boolean): Assets {
  const workers = { editorWorkerService, json: jsonWorker, graphql: graphqlWorker };
  const script = [
    `const workers = ${JSON.stringify(workers)};`,
    `const styles = ${JSON.stringify(css)};`,
    bundleWith(hasPanel),
  ].join('\n');
  const [, iconType = '', iconData = ''] = /^data:([^;]+);base64,(.+)$/.exec(favicon) ?? [];
  return {
    script: assetOf('text/javascript; charset=utf-8', Buffer.from(script)),
    icon: assetOf(iconType, Buffer.from(iconData, 'base64')),
  };
}

function assetOf(type: string, body: Buffer<ArrayBuffer>): Asset {
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
