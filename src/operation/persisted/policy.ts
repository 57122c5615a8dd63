import type { Log } from '../../log.ts';
import { isIntrospection } from '../../look-ahead/selection-tree.ts';
import type { Prepare, PreparedOperation } from '../document.ts';
import { shownName } from '../operation-report.ts';
import type { GraphQLParams } from '../params.ts';
import { requestError } from '../request-error.ts';
import { hashOf } from './ids.ts';
import type { Policy } from './resolve.ts';

/**
 * The modes of listed documents. `off` ignores manifests. `allow` runs any text. `log` runs any text as well, but logs
 * the texts that `only` would refuse. `only` runs listed documents alone, by id or as text.
 */
export const documentModes = ['off', 'allow', 'log', 'only'] as const;
/** One of the modes. */
export type DocumentMode = (typeof documentModes)[number];

/** Settings and collaborators of a policy. */
export interface PolicyOptions {
  readonly mode: DocumentMode;
  readonly introspection: boolean;
  readonly prepare: Prepare;
  readonly log: Log;
}

/** The policy of a mode. */
export function createPolicy({ mode, introspection, prepare, log }: PolicyOptions): Policy {
  switch (mode) {
    case 'off':
    case 'allow':
      return { readsText: false, admit: () => undefined };
    case 'log':
      return {
        readsText: true,
        admit: (text, { operationName }) =>
          log('warn', 'not a listed document', {
            operationName: shownName(operationName),
            documentId: `sha256:${hashOf(text)}`,
          }),
      };
    case 'only':
      return {
        readsText: true,
        admit: (text, params) => {
          if (!introspection || !asksOnlyForSchema(text, params, prepare))
            throw requestError(
              'unlistedDocument',
              'Only documents listed in the manifest are run: send the id of one.',
            );
        },
      };
  }
}

/** True if an operation only reads the schema. Tools send such operations as texts of their own. */
function asksOnlyForSchema(text: string, { operationName }: GraphQLParams, prepare: Prepare): boolean {
  let prepared: PreparedOperation;
  try {
    prepared = prepare(text, operationName);
  } catch {
    return false;
  }
  const names = prepared.operation.selectionSet.selections.map((node) =>
    node.kind === 'Field' ? node.name.value : '',
  );
  return names.some(isIntrospection) && names.every((name) => isIntrospection(name) || name === '__typename');
}
