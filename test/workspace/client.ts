import { startWorkspace, type WorkspaceOptions } from '../../workspace/workspace.ts';

/** Members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** An answer over HTTP. `body` is the JSON, or the text of what is not JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A workspace of a test's own, and a caller that holds a key of its first organization. */
export interface Client extends AsyncDisposable {
  readonly url: string;
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** The body of a GET that must answer 200. */
  read(path: string): Promise<unknown>;
}

/** Starts a workspace on a free port. */
export async function startClient(options: Partial<WorkspaceOptions> = {}): Promise<Client> {
  const workspace = await startWorkspace({ port: 0, host: '127.0.0.1', ...options });
  const send: Client['send'] = async (method, path, body, headers) => {
    const response = await fetch(workspace.url + path, {
      method,
      headers: {
        authorization: `Bearer ${workspace.demoKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await bodyOf(response) };
  };
  return {
    url: workspace.url,
    send,
    read: async (path) => {
      const { status, body } = await send('GET', path);
      if (status !== 200) throw new Error(`expected 200 for ${path}, but got ${status}`);
      return body;
    },
    [Symbol.asyncDispose]: () => workspace.close(),
  };
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const value: unknown = response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
  return value;
}

/** `value` as the object that it must be. */
export function membersOf(value: unknown): Members {
  if (!isMembers(value)) throw new Error('expected an object');
  return value;
}

/** The objects in the array that `value` must be. */
export function rowsOf(value: unknown): Members[] {
  if (!Array.isArray(value)) throw new Error('expected an array');
  return value.map(membersOf);
}

/** The rows of a page. */
export function resultsOf(page: unknown): Members[] {
  return rowsOf(membersOf(page).results);
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Path and query of a link. */
export function targetOf(link: unknown): string {
  const { pathname, search } = new URL(String(link));
  return pathname + search;
}

/** The body of a refusal. */
export function refusal(type: string, code: string, attr: string | null, detail: unknown): Members {
  return { type, code, detail, attr };
}
