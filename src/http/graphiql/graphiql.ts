import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CompleteAnswer, compressedOnce, type SelectVariant } from '../compression.ts';
import { methodOf } from '../request.ts';
import { answerHeaders } from '../response.ts';
import { createSend, type SendOptions, sendFault } from '../send.ts';
import type { PageOptions } from './page.ts';

/** Settings of the page of GraphiQL and of its delivery. */
export interface GraphiqlOptions extends SendOptions, PageOptions {
  readonly report: (error: unknown) => void;
}

/**
 * Answers a browser that opens the endpoint, or whose page asks for an asset. Returns false, and does nothing, for any
 * other request.
 */
export type Graphiql = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The URL of an asset. Its group is the asset's name. */
const assetUrl = /^\/graphql\?graphiql=([\w-]{43})$/;

/** The answer to a page of another version, as during a rolling update. That page then asks its reader to reload it. */
const unknownAsset: CompleteAnswer = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...answerHeaders },
  body: 'GraphiQL has no such file in this version of the gateway.\n',
};

/** The page, and the assets by their names. */
interface Served {
  readonly page: SelectVariant;
  readonly assets: ReadonlyMap<string, SelectVariant>;
}

/** Serves GraphiQL to browsers. */
export function createGraphiql(options: GraphiqlOptions): Graphiql {
  const send = createSend({ ...options, compression: false });
  const selectVariant = (answer: CompleteAnswer): SelectVariant =>
    options.compression ? compressedOnce(answer) : () => answer;
  // The assets have nine megabytes, and are loaded when a browser first asks for the page or for one of them.
  const load = async (): Promise<Served> => {
    const [{ createAssets }, { createPage }] = await Promise.all([import('./assets.ts'), import('./page.ts')]);
    const assets = await createAssets(options.explain);
    return {
      page: selectVariant(createPage(options, assets)),
      assets: new Map([assets.script, assets.icon].map(({ name, answer }) => [name, selectVariant(answer)])),
    };
  };
  let served: Promise<Served> | undefined;
  return (request, response) => {
    if (methodOf(request) !== 'GET') return false;
    const name = assetUrl.exec(request.url ?? '')?.[1];
    if (name === undefined && request.headers.accept?.includes('text/html') !== true) return false;
    served ??= load();
    served
      .then(({ page, assets }) => {
        const variantFor = name === undefined ? page : assets.get(name);
        return variantFor?.(request.headers['accept-encoding']) ?? unknownAsset;
      })
      .then(
        ({ headers, ...variant }) => send(request, response, { ...variant, headers: { ...headers } }),
        (error: unknown) => {
          // The next request tries again.
          served = undefined;
          options.report(error);
          sendFault(response);
        },
      );
    return true;
  };
}
