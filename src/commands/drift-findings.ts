import { type Answers, Comparison, type Difference, type DriftKind } from '../rest/drift/compare.ts';
import { foreignTo } from '../rest/drift/drift-watch.ts';
import { answers as documented } from '../rest/generated/answers.ts';
import { ConfigError } from '../settings/settings.ts';
import { patchOf } from './drift-patch.ts';
import type { Read, Unread } from './drift-reads.ts';

/** The differences between the upstream and the OpenAPI document. */
export interface Findings {
  /** The number of GET operations that were read. */
  readonly calls: number;
  readonly differences: readonly Found[];
  readonly unread: readonly { readonly operation: string; readonly reason: string }[];
  /** A unified diff of the OpenAPI document that removes the differences; empty if there is nothing to change. */
  readonly patch: string;
}

/** A difference in the answer of one operation. */
export interface Found {
  readonly operation: string;
  readonly kind: DriftKind;
  readonly column: string;
}

/**
 * The differences in the answers, and the patch of the document. Throws a ConfigError if no operation could be read.
 */
export function findingsOf(results: readonly (Read | Unread)[], openapi: string): Findings {
  const read = results.filter((result) => 'body' in result);
  const unread = results.filter((result) => 'reason' in result);
  const [failed] = unread;
  if (read.length === 0) throw new ConfigError(`drift: not one operation could be read: ${failed?.reason ?? ''}`);
  const compared = read.map((one) => ({ operation: one.operation.id, all: differencesOf(one) }));
  return {
    calls: read.length,
    differences: compared.flatMap(({ operation, all }) => unique(operation, all)),
    unread: unread.map(({ operation, reason }) => ({ operation: operation.id, reason })),
    patch: patchOf(
      openapi,
      compared.flatMap(({ all }) => all),
    ),
  };
}

/** Every difference in all rows of an answer. */
export function differencesOf({ operation, target, body }: Read, answers: Answers = documented): readonly Difference[] {
  const found: Difference[] = [];
  const shape = answers.operations[operation.route]?.body;
  if (shape !== undefined) new Comparison(answers, foreignTo(target), (one) => found.push(one)).compare(body, shape);
  return found;
}

function unique(operation: string, differences: readonly Difference[]): readonly Found[] {
  const found = new Map<string, Found>();
  for (const { kind, prefix, column } of differences)
    found.set(`${kind} ${prefix}${column}`, { operation, kind, column: prefix + column });
  return [...found.values()];
}
