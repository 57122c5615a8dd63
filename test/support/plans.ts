import { Kind, parse } from 'graphql';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { fragmentsOf } from '../../src/look-ahead/selection-tree.ts';
import { type Plan, planOperation } from '../../src/plan/plan.ts';
import { createSchema } from '../../src/schema.ts';

const schema = createSchema();

/** The codec of the plans below. */
export const cursors = createCursorCodec('secret of the tests');

/** The plan of the first operation of a document. */
export function planOf(query: string, coerced: Record<string, unknown> = {}, maxPageSize = 100): Plan {
  const document = parse(query);
  const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('no operation');
  const variableValues = { sources: {}, coerced };
  const fragments = fragmentsOf(document);
  return planOperation({ schema, fragments, variableValues, operation, cursors, maxPageSize }).plan;
}

/** A plan as lines `wave lower–upper operation paths`. */
export function linesOf({ calls }: Plan): string[] {
  return calls.map(
    ({ wave, lower, upper, operation, paths, when }) =>
      `${wave} ${lower === upper ? upper : `${lower}–${upper}`} ${operation} ${paths.join(' ')}${when === undefined ? '' : ` (${when})`}`,
  );
}
