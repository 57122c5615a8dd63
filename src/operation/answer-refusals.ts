import { type GraphQLError, type GraphQLSchema, getVariableValues } from 'graphql';
import { fragmentsOf, type SelectionScope } from '../look-ahead/selection.ts';
import { type AnswerSize, answerSizeOf } from '../plan/answer-size.ts';
import { type IntrospectionSize, introspectionSize } from '../plan/introspection-size.ts';
import type { PreparedOperation } from './document.ts';
import { requestError } from './request-error.ts';

/** What answers are held to before their operation runs. */
export interface AnswerLimits {
  readonly schema: GraphQLSchema;
  readonly maxPageSize: number;
  readonly maxAnswerObjects: number;
}

/** Why an operation is refused for what it could answer; undefined where it may run. */
export type AnswerRefusal = (
  prepared: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
) => GraphQLError | undefined;

/**
 * Introspection needs no key and costs no call, so that it has less than other answers: the query of GraphiQL gets a
 * quarter of this. Bytes of JSON.
 */
const mostIntrospectionBytes = 2 ** 19;

/**
 * Refuses operations whose answer could have more objects than it may. Most cannot, whatever their variables are: that is
 * worked out once for an operation, and its size with its real variables only for the others.
 */
export function createAnswerRefusal(limits: AnswerLimits): AnswerRefusal {
  const harmless = new WeakMap<PreparedOperation, boolean>();
  return (prepared, variables) => {
    const known = harmless.get(prepared);
    if (known === true) return undefined;
    if (known === undefined) {
      const isHarmless = refusalWith(undefined, prepared, limits) === undefined;
      harmless.set(prepared, isHarmless);
      if (isHarmless) return undefined;
    }
    const { schema } = limits;
    const definitions = prepared.operation.variableDefinitions ?? [];
    const { variableValues } = getVariableValues(schema, definitions, variables, { maxErrors: 1 });
    // Without them nothing is executed.
    return variableValues && refusalWith(variableValues, prepared, limits);
  };
}

/** Why an operation is refused with these variables, or with any. */
function refusalWith(
  variableValues: SelectionScope['variableValues'] | undefined,
  { document, operation }: PreparedOperation,
  { schema, maxPageSize, maxAnswerObjects: limit }: AnswerLimits,
): GraphQLError | undefined {
  const scope = { schema, fragments: fragmentsOf(document), operation };
  const size = answerSizeOf({ ...scope, maxPageSize, variableValues });
  const schemaSize = introspectionSize({ ...scope, variableValues });
  const objects = Math.min(size.objects + schemaSize.objects, Number.MAX_SAFE_INTEGER);
  if (schemaSize.bytes > mostIntrospectionBytes) return tooMuchOfSchema(schemaSize);
  return objects > limit ? tooManyObjects({ ...size, objects }, limit) : undefined;
}

function tooManyObjects({ objects, path, objectsThere }: AnswerSize, limit: number): GraphQLError {
  return requestError(
    'expensiveOperation',
    `The operation may answer up to ${objects} objects, ${objectsThere} of them for \`${path}\`, but the limit is ${limit}.`,
    { details: { objects, limit, path } },
  );
}

function tooMuchOfSchema({ bytes, path }: IntrospectionSize): GraphQLError {
  const limit = mostIntrospectionBytes;
  return requestError(
    'expensiveOperation',
    `The operation would answer ${bytes} bytes about the schema, most of them for \`${path}\`, but the limit is ${limit}.`,
    { details: { bytes, limit, path } },
  );
}
