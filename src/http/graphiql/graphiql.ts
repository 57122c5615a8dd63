import type { IncomingMessage, ServerResponse } from 'node:http';
import { compressedOnce, type SelectVariant } from '../compression.ts';
import { methodOf } from '../request.ts';
import { createSend, type SendOptions, sendFault } from '../send.ts';
import type { PageOptions } from './page.ts';

/** Settings of the page of GraphiQL and of its delivery. */
export interface GraphiqlOptions extends SendOptions, PageOptions {
  readonly report: (error: unknown) => void;
}

/** Answers a browser that opens the endpoint. Returns false, and does nothing, for any other request. */
export type Graphiql = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Serves GraphiQL to browsers. */
export function createGraphiql(options: GraphiqlOptions): Graphiql {
  const send = createSend({ ...options, compression: false });
  // The page has nine megabytes, and is loaded when the first browser asks for it.
  const createSelectVariant = async (): Promise<SelectVariant> => {
    const { createPage } = await import('./page.ts');
    const page = createPage(options);
    return options.compression ? compressedOnce(page) : () => page;
  };
  let selectVariant: Promise<SelectVariant> | undefined;
  return (request, response) => {
    if (methodOf(request) !== 'GET' || request.headers.accept?.includes('text/html') !== true) return false;
    selectVariant ??= createSelectVariant();
    selectVariant
      .then((variantFor) => variantFor(request.headers['accept-encoding']))
      .then(
        ({ headers, ...variant }) => send(request, response, { ...variant, headers: { ...headers } }),
        (error: unknown) => {
          // The next request tries again.
          selectVariant = undefined;
          options.report(error);
          sendFault(response);
        },
      );
    return true;
  };
}
