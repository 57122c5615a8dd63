import { sendRaw } from '../../support/raw-http.ts';
import type { Answer, Endpoint } from './client.ts';
import type { RunningGateway } from './gateways.ts';

/** An endpoint that is watched. */
export interface Watched extends Endpoint {
  /**
   * One line for each request and its answer, such as `GET id: 200 PERSISTED_QUERY_NOT_FOUND` or `POST id text: 200`:
   * method, what it carried, status, code of the error.
   */
  readonly traffic: string[];
}

/** The endpoint of a gateway, watched from now on. */
export function watch({ url, key }: RunningGateway): Watched {
  const traffic: string[] = [];
  const note = (method: string, params: Params, status: number, body: string): void => {
    const { errors } = parsed<Answer<unknown>>(body);
    const parts = [method, namesId(params) && 'id', params['query'] !== undefined && 'text'].filter(Boolean);
    const code = errors?.[0]?.extensions?.code ?? errors?.[0]?.message;
    traffic.push(`${parts.join(' ')}: ${status}${code === undefined ? '' : ` ${code}`}`);
  };
  return {
    url,
    authorization: `Bearer ${key}`,
    traffic,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const sent = await request.clone().text();
      const response = await fetch(request);
      note(request.method, paramsOf(request.url, sent), response.status, await response.clone().text());
      return response;
    },
    send: async (request) => {
      const response = await sendRaw(url, request);
      const params = paramsOf(`${url}${request.path ?? ''}`, String(request.body ?? ''));
      note(request.method ?? 'POST', params, response.status, response.body);
      return response;
    },
  };
}

type Params = Readonly<Record<string, unknown>>;

/** JSON of which the test finds out whether it has that shape. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the callers know what they asked for
export function parsed<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a wrong shape fails the test that reads it
  return JSON.parse(text) as T;
}

function paramsOf(url: string, body: string): Params {
  if (body !== '') return parsed<Params>(body);
  const params = Object.fromEntries(new URL(url).searchParams);
  return { ...params, ...('extensions' in params && { extensions: parsed(params['extensions']) }) };
}

function namesId(params: Params): boolean {
  const extensions = params['extensions'];
  if (typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions) return true;
  return params['documentId'] !== undefined || params['doc_id'] !== undefined;
}
