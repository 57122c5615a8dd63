/** The operations that the team's application sends: to a gateway, or as calls to the REST API itself. */
import { Pool } from 'undici';
import { exportedRows, factsOf, type PageName, type Place, type Schema } from './pages.ts';

/** The outcome of an operation. Times in milliseconds. */
export type Outcome =
  | { readonly kind: 'answered'; readonly text: string }
  // Not answered, or not as a whole; to be asked again after that, if it was told when.
  | { readonly kind: 'failed'; readonly retryAfterMs: number };

/** An application of the team. */
export interface Client extends AsyncDisposable {
  readonly read: (page: PageName, place: Place) => Promise<Outcome>;
  /** Changes the description of the dashboard that a person works on. */
  readonly edit: (place: Place, description: string) => Promise<Outcome>;
  /** Reads the next step of the events of a project, all of which are `steps`; `before` is the answer to the one before it. */
  readonly exportStep: (place: Place, step: number, before: string) => Promise<Outcome>;
}

/** A person gives up a request after that, in real milliseconds; nothing here should take as long. */
const timeoutMs = 20_000;

type Headers = Readonly<Record<string, string>>;

interface Response {
  readonly isSuccess: boolean;
  readonly retryAfterMs: number;
  readonly text: string;
}

type Send = (request: {
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: unknown;
}) => Promise<Response>;

function connect(url: string, key: string): { readonly send: Send; readonly close: () => Promise<void> } {
  const pool = new Pool(new URL(url).origin, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const headers: Headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
  const send: Send = async ({ method = 'GET', path, body }) => {
    const content = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await pool.request({
      method,
      path,
      headers: { ...headers, ...content },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1000;
    return { isSuccess: response.statusCode >= 200 && response.statusCode < 300, retryAfterMs, text };
  };
  return { send, close: () => pool.destroy() };
}

function failed(retryAfterMs = 0): Outcome {
  return { kind: 'failed', retryAfterMs };
}

/** A client of the REST API that makes a call for each fact. A page is answered if all of its calls are. */
export function restClient(url: string, key: string): Client {
  const { send, close } = connect(url, key);
  const all = async (requests: readonly Parameters<Send>[0][]): Promise<Outcome> => {
    const responses = await Promise.all(requests.map(async (request) => send(request).catch(() => undefined)));
    const whole = responses.every((response) => response?.isSuccess === true);
    if (!whole) return failed(Math.max(...responses.map((response) => response?.retryAfterMs ?? 0)));
    return { kind: 'answered', text: responses.map((response) => response?.text ?? '').join('\n') };
  };
  return {
    read: (page, place) => all(factsOf(page, place).map((path) => ({ path }))),
    edit: ({ project, dashboard }, description) =>
      all([{ method: 'PATCH', path: `/api/projects/${project}/dashboards/${dashboard}/`, body: { description } }]),
    exportStep: ({ project }, step) =>
      all([{ path: `/api/projects/${project}/events/?limit=${exportedRows}&offset=${step * exportedRows}` }]),
    [Symbol.asyncDispose]: close,
  };
}

/** A client of a gateway: one operation for each page. It is answered if there is no error in its answer. */
export function graphqlClient(url: string, key: string, schema: Schema): Client {
  const { send, close } = connect(url, key);
  const path = new URL(url).pathname;
  const ask = async (query: string, values: Readonly<Record<string, unknown>>): Promise<Outcome> => {
    const declared = Object.entries(values).filter(([name]) => query.includes(`$${name}:`));
    const body = { query, variables: Object.fromEntries(declared) };
    const response = await send({ method: 'POST', path, body }).catch(() => undefined);
    if (response === undefined) return failed();
    const { isSuccess, text, retryAfterMs } = response;
    if (isSuccess && !text.includes('"errors":')) return { kind: 'answered', text };
    return failed(Math.max(retryAfterMs, toldIn(text)));
  };
  return {
    read: (page, place) => ask(schema.pages[page], variablesOf(place)),
    edit: (place, description) => ask(schema.edit, { ...variablesOf(place), description }),
    exportStep: (place, step, before) =>
      ask(schema.exported, { ...variablesOf(place), after: endCursorIn(before), offset: step * exportedRows }),
    [Symbol.asyncDispose]: close,
  };
}

/** A project's id is a text in one schema, and may be one in the others. */
function variablesOf({ project, dashboard, organization }: Place): Readonly<Record<string, unknown>> {
  return { project: String(project), dashboard, organization };
}

/** The longest `retryAfter` that the errors of an answer tell, in milliseconds; 0 without one. */
function toldIn(text: string): number {
  const told = [...text.matchAll(/"retryAfter":(\d+)/g)].map(([, seconds]) => Number(seconds) * 1000);
  return Math.max(0, ...told);
}

function endCursorIn(text: string): string | null {
  return /"endCursor":"([^"]+)"/.exec(text)?.[1] ?? null;
}
