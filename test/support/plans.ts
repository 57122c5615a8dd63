import { getOperationAST, parse } from 'graphql';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { fragmentsOf } from '../../src/look-ahead/selection-tree.ts';
import type { EstimateRequest } from '../../src/plan/estimate.ts';
import { type Plan, planOperation } from '../../src/plan/plan.ts';
import { createSchema } from '../../src/schema.ts';

const schema = createSchema();

/** The codec of the plans below. */
export const cursors = createCursorCodec('secret of the tests');

/** The request to estimate or plan the only operation of a document. Without `coerced` it is for any variables. */
export function requestOf(query: string, coerced?: Record<string, unknown>, maxPageSize = 100): EstimateRequest {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('no operation');
  const variableValues = coerced && { sources: {}, coerced };
  return { schema, fragments: fragmentsOf(document), variableValues, operation, maxPageSize };
}

/** The plan of the only operation of a document. */
export function planOf(query: string, coerced: Record<string, unknown> = {}, maxPageSize = 100): Plan {
  const variableValues = { sources: {}, coerced };
  return planOperation({ ...requestOf(query, coerced, maxPageSize), variableValues, cursors }).plan;
}

/** A plan as lines `wave lower–upper operation paths`. */
export function linesOf({ calls }: Plan): string[] {
  return calls.map(
    ({ wave, lower, upper, operation, paths, when }) =>
      `${wave} ${lower === upper ? upper : `${lower}–${upper}`} ${operation} ${paths.join(' ')}${when === undefined ? '' : ` (${when})`}`,
  );
}
