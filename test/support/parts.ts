import { key, type Request } from './gateway.ts';

/** One part of an answer, in either format. */
export interface Part {
  readonly data?: unknown;
  readonly errors?: readonly Failure[];
  readonly pending?: readonly { readonly id: string; readonly path: Path; readonly label?: string }[];
  readonly incremental?: readonly Entry[];
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly Failure[] }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly hasNext: boolean;
}

type Path = readonly (string | number)[];

interface Failure {
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The content of a part for one place. */
interface Entry {
  readonly data?: unknown;
  readonly errors?: readonly Failure[];
  readonly id?: string;
  readonly subPath?: Path;
  readonly path?: Path;
  readonly label?: string;
}

/** All parts as one answer. */
export interface Merged {
  readonly data: unknown;
  readonly errors: readonly Failure[];
}

/** Puts parts together as clients do. */
export function mergeParts(parts: readonly Part[]): Merged {
  const root = { data: structuredClone(parts[0]?.data) };
  const errors: Failure[] = [];
  const paths = new Map<string, Path>();
  for (const part of parts) {
    for (const { id, path } of part.pending ?? []) paths.set(id, path);
    for (const { data, id, subPath = [], path } of part.incremental ?? []) {
      const at = path ?? paths.get(id ?? '');
      if (at === undefined) throw new Error(`expected a pending id, but got ${id}`);
      mergeInto(root, ['data', ...at, ...subPath], data);
    }
    const failing = [part, ...(part.incremental ?? []), ...(part.completed ?? [])];
    errors.push(...failing.flatMap((one) => one.errors ?? []));
    for (const { id } of part.completed ?? []) paths.delete(id);
  }
  if (paths.size > 0) throw new Error(`never completed: ${[...paths.keys()].join()}`);
  return { data: root.data, errors };
}

function mergeInto(target: object, [first = '', ...path]: Path, value: unknown): void {
  const known: unknown = Reflect.get(target, first);
  if (path.length > 0) {
    if (typeof known !== 'object' || known === null) throw new Error(`expected an object at ${first}`);
    return mergeInto(known, path, value);
  }
  const areObjects = typeof known === 'object' && typeof value === 'object' && known !== null && value !== null;
  if (!areObjects) Reflect.set(target, first, known === undefined || value !== null ? structuredClone(value) : known);
  else for (const [name, member] of Object.entries(value)) mergeInto(known, [name], member);
  return undefined;
}

/** An answer in parts that comes. */
export interface PartsResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parts one after the other; what is no multipart answer is one part. */
  readonly parts: AsyncGenerator<Part>;
}

/** The `Accept` header of a client for each format. */
export const accepts = {
  'v0.2': 'multipart/mixed;incrementalSpec=v0.2, application/json',
  '20220824': 'multipart/mixed;deferSpec=20220824, application/json',
} as const;

/** Asks a gateway for an answer in parts. */
export async function askForParts(
  url: string,
  query: string,
  accept: string,
  { headers, signal, ...params }: Request = {},
): Promise<PartsResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ query, ...params }),
    ...(signal !== undefined && { signal }),
  });
  return { status: response.status, headers: response.headers, parts: partsOf(response) };
}

async function* partsOf(response: Response): AsyncGenerator<Part> {
  const isMultipart = response.headers.get('content-type')?.startsWith('multipart/mixed; boundary="-"') === true;
  if (!isMultipart) {
    yield readPart(await response.text());
    return;
  }
  let rest = '';
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const pieces = (rest + text).split('\r\n---');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) if (piece !== '') yield readPart(bodyOf(piece));
  }
  if (rest !== '--\r\n') throw new Error(`expected the end of the answer, but got ${rest}`);
}

function bodyOf(piece: string): string {
  const [, length = '', body = ''] =
    /^\r\nContent-Type: application\/json; charset=utf-8\r\nContent-Length: (\d+)\r\n\r\n(.*)$/s.exec(piece) ?? [];
  if (Number(length) !== Buffer.byteLength(body)) throw new Error(`expected ${length} bytes, but got ${piece}`);
  return body;
}

/** Reads a part in JSON. */
export function readPart(text: string): Part {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it really is, the tests find out
  return JSON.parse(text) as Part;
}
