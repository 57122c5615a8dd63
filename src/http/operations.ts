import type { ExecutionResult } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { Caller, TraceContext } from '../rest/client.ts';
import { Lifetime } from '../rest/lifetime.ts';
import type { OperationResult } from './answer.ts';
import { toPublicError } from './errors.ts';
import type { GraphQLParams } from './params.ts';
import { type Prepare, type PreparedOperation, RefusedDocument } from './prepare.ts';
import { requestError } from './request-error.ts';

/** What an operation may know of the request that brought it, whichever transport that was. */
export interface RequestFacts {
  readonly method: string;
  readonly caller: Caller | undefined;
  readonly trace: TraceContext;
  /** Calls back when the client leaves before it is answered. */
  readonly onLeave: (listener: () => void) => void;
}

/** Collaborators and settings of the operations. */
export interface OperationsOptions {
  readonly prepare: Prepare;
  readonly createContext: (facts: RequestFacts, lifetime: Lifetime) => GatewayContext;
  readonly deadlineMs: number;
  /** Hears of errors that nobody expected. */
  readonly report: (error: unknown) => void;
}

/** Runs one operation from its parameters. Never rejects: whatever happens becomes a result. */
export type RunOperation = (params: GraphQLParams, facts: RequestFacts) => Promise<OperationResult>;

/** The one path that every operation takes, whichever transport brought it. */
export function createRunOperation(options: OperationsOptions): RunOperation {
  const { prepare, report } = options;
  return async (params, facts) => {
    try {
      const prepared = prepare(queryOf(params), params.operationName);
      refuseMutationByGet(prepared, facts);
      return toResult(await execute(prepared, params, facts, options), prepared, report);
    } catch (error) {
      const errors = error instanceof RefusedDocument ? error.errors : [error];
      return { errors: errors.map((one) => toPublicError(one, report)) };
    }
  };
}

async function execute(
  prepared: PreparedOperation,
  { variables }: GraphQLParams,
  facts: RequestFacts,
  { createContext, deadlineMs }: OperationsOptions,
): Promise<ExecutionResult> {
  const lifetime = new Lifetime(deadlineMs);
  facts.onLeave(() => lifetime.end('left'));
  try {
    return await prepared.execute(createContext(facts, lifetime), variables);
  } finally {
    lifetime.finish();
  }
}

function toResult(
  { data, errors }: ExecutionResult,
  { document }: PreparedOperation,
  report: (error: unknown) => void,
): OperationResult {
  return {
    document,
    ...(data !== undefined && { data }),
    ...(errors !== undefined && { errors: errors.map((error) => toPublicError(error, report)) }),
  };
}

function queryOf({ query }: GraphQLParams): string {
  if (query !== undefined && query !== '') return query;
  throw requestError('Expected `query` to be a GraphQL document, but there is none.', {
    code: 'BAD_USER_INPUT',
    status: 400,
  });
}

/** A link or an image could otherwise change something. */
function refuseMutationByGet({ operation }: PreparedOperation, { method }: RequestFacts): void {
  if (method !== 'GET' || operation.operation === 'query') return;
  throw requestError('Expected a mutation to come by POST, but it came by GET.', {
    code: 'METHOD_NOT_ALLOWED',
    status: 405,
    headers: { allow: 'POST' },
  });
}
