import type { GraphQLError, GraphQLSchema, VariableValues } from 'graphql';
import { memoize } from '../memoize.ts';
import { type AnswerSize, answerSizeOf } from '../plan/answer-size.ts';
import type { PreparedOperation } from './document.ts';
import { requestError } from './request-error.ts';
import { coercedVariables } from './variables.ts';

/** Limits that answers are held to before their operation runs. */
interface ForecastOptions {
  readonly schema: GraphQLSchema;
  readonly maxPageSize: number;
  readonly maxAnswerObjects: number;
}

/** Facts about an answer that are known before its operation runs. */
export interface AnswerForecast {
  /** The refusal of an operation whose answer could be too large; undefined if it may run. */
  readonly refusal: GraphQLError | undefined;
  /** True if the answer takes long to make. */
  readonly isLarge: boolean;
}

/** Forecasts the answer of an operation. */
export type ForecastAnswer = (
  prepared: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
) => AnswerForecast;

/** Answers with more objects than this take tens of milliseconds to make. */
const manyObjects = 2000;

/**
 * Refuses operations whose answer could have more objects than the limit. Most operations cannot exceed the limit with
 * any variables, which is determined only once. For all others, the size with the actual variables is determined each
 * time.
 */
export function createAnswerForecast(limits: ForecastOptions): ForecastAnswer {
  const forecastWithAny = memoize((prepared: PreparedOperation) => forecastWith(undefined, prepared, limits));
  return (prepared, variables) => {
    const withAny = forecastWithAny(prepared);
    if (withAny.refusal === undefined) return withAny;
    const variableValues = coercedVariables(limits.schema, prepared.operation, variables);
    return variableValues === undefined ? nothing : forecastWith(variableValues, prepared, limits);
  };
}

const nothing: AnswerForecast = { refusal: undefined, isLarge: false };

/** The forecast for these variables. If they are undefined, it holds for any variables. */
function forecastWith(
  variableValues: VariableValues | undefined,
  prepared: PreparedOperation,
  { maxPageSize, maxAnswerObjects: limit }: ForecastOptions,
): AnswerForecast {
  const size = answerSizeOf({ ...prepared, maxPageSize, variableValues });
  const isLarge = size.objects > manyObjects || size.introspects;
  return { refusal: size.objects > limit ? tooManyObjects(size, limit) : undefined, isLarge };
}

function tooManyObjects({ objects, path, objectsThere }: AnswerSize, limit: number): GraphQLError {
  return requestError(
    'expensiveOperation',
    `The operation may answer up to ${objects} objects, ${objectsThere} of them for \`${path}\`, but the limit is ${limit}.`,
    { details: { objects, limit, path } },
  );
}
