import { sendForBytes } from './raw-http.ts';

/** The page of GraphiQL, and what it asks for besides. */
export interface GraphiqlPage {
  readonly html: string;
  readonly policy: string;
  /** The path and query of its script, and the hash that it must have. */
  readonly script: string;
  readonly integrity: string;
  readonly icon: string;
}

/** Reads the page of GraphiQL at the URL of an endpoint. */
export async function readGraphiql(url: string): Promise<GraphiqlPage> {
  const { body, headers } = await sendForBytes(url, { method: 'GET', headers: ['accept', 'text/html'] });
  const html = body.toString();
  const [, source = '', integrity = ''] = /<script src="([^"]+)" integrity="([^"]+)">/.exec(html) ?? [];
  const [, icon = ''] = /<link rel="icon" href="([^"]+)">/.exec(html) ?? [];
  const pathOf = (address: string): string => {
    const { pathname, search } = new URL(address, url);
    return pathname + search;
  };
  return {
    html,
    policy: String(headers['content-security-policy']),
    script: pathOf(source),
    integrity,
    icon: pathOf(icon),
  };
}
