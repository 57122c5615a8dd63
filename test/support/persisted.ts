import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { type Answer, key, readAnswer } from './gateway.ts';

/** A folder for manifests, and other files that a test needs. */
export interface Folder extends Disposable {
  readonly path: string;
  /** Writes a file, JSON unless it is a text; returns its path. */
  write(name: string, content: unknown): string;
}

/** A new folder below the system's for temporary files; it goes with all that is in it when it is disposed of. */
export function createFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'persisted-'));
  return {
    path,
    write: (name, content) => {
      const file = join(path, name);
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

/** The counts of one listed document in the metrics. */
interface DocumentCounts {
  readonly id: unknown;
  readonly hits: number;
  readonly errors: number;
  readonly restCalls: number;
}

/** The counts of a gateway's listed documents in its metrics. Fails if the metric of unused ones says otherwise. */
export async function countsOfDocuments({ metrics }: Gateway): Promise<readonly DocumentCounts[]> {
  const snapshot = await metrics.snapshot();
  const valuesOf = (name: string): ReadonlyMap<unknown, number> => {
    const values = snapshot.find((metric) => metric.name === name)?.values ?? [];
    return new Map(values.map(({ labels, value }) => [labels['document'], value]));
  };
  const errors = valuesOf('gateway_document_errors_total');
  const restCalls = valuesOf('gateway_document_rest_calls_total');
  const counts = [...valuesOf('gateway_document_hits_total')].map(([id, hits]) => ({
    ...{ id, hits },
    errors: errors.get(id) ?? 0,
    restCalls: restCalls.get(id) ?? 0,
  }));
  const unused = counts.filter(({ hits }) => hits === 0).length;
  expect(valuesOf('gateway_documents_unused').get(undefined)).toBe(unused);
  return counts;
}

/** A way to send the parameters of an operation. */
export interface Wire {
  readonly method?: 'GET' | 'POST';
  readonly accept?: string;
  readonly cacheControl?: string;
  /** The key to ask with; undefined for that of the tests, null for none. */
  readonly asKey?: string | null;
}

type Params = Readonly<Record<string, unknown>>;

/** Sends any parameters, as a client library does; strings are encoded in a URL as they are, all else as JSON. */
export async function send(url: string, params: Params, wire: Wire = {}): Promise<Answer> {
  const { method = 'POST', accept, cacheControl, asKey = key } = wire;
  const headers = {
    ...(asKey !== null && { authorization: `Bearer ${asKey}` }),
    ...(accept !== undefined && { accept }),
    ...(cacheControl !== undefined && { 'cache-control': cacheControl }),
  };
  const response =
    method === 'POST'
      ? await fetch(url, {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(params),
        })
      : await fetch(`${url}?${search(params)}`, { headers });
  return readAnswer(response);
}

/** Parameters of automatic persisted queries, as Apollo's clients send them. */
export function automatic(sha256Hash: string, more: Params = {}): Params {
  return { extensions: { persistedQuery: { version: 1, sha256Hash } }, ...more };
}

/** The second request of a client whose first one missed. */
export function registration(query: string, more: Params = {}): Params {
  return automatic(hashOf(query), { query, ...more });
}

/** The outcome of an answer: its status, and its data or the code of its only error. */
export function outcomeOf({ status, data, errors }: Answer): readonly [status: number, outcome: unknown] {
  if (errors === undefined) return [status, data];
  return [status, errors.length === 1 ? errors[0]?.extensions['code'] : errors];
}

/** Parameters as the query of a URL. */
export function search(params: Params): URLSearchParams {
  return new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
