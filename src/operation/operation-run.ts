import type { VariableValues } from 'graphql';
import type { PartsFormat } from '../context.ts';
import { type Caller, callerNameOf } from '../rest/caller.ts';
import type { Reuse } from '../rest/read-your-writes.ts';
import type { CallSpans, TraceContext } from '../rest/rest-run.ts';
import { Cost, type Costs } from './cost.ts';
import type { PreparedOperation } from './document.ts';
import { type GraphQLParams, shortName } from './params.ts';
import type { Resolved } from './persisted/resolve.ts';
import type { RequestError } from './request-error.ts';

/** The name of a client program and its version, as the client sends them. */
export interface ClientName {
  readonly name: string | undefined;
  readonly version: string | undefined;
}

/** The facts about a request that its operation may use, the same for every transport. */
export interface RequestContext {
  /** The caller. Once the document is known, it has only those of its roles that allow the document. */
  caller: Caller | undefined;
  /** The error with which the request is refused. Its operation is then not examined. */
  readonly refusal?: RequestError | undefined;
  /** The time at which its token expires, in milliseconds of `Date.now()`; undefined without a token. */
  readonly expiresAt?: number | undefined;
  /** Resolves when `caller`, `refusal` and `expiresAt` are known; undefined if they are known already. */
  readonly identified?: Promise<void> | undefined;
  readonly method: string;
  /** The rule by which the request may be answered with kept REST answers. */
  readonly reuse: Reuse;
  /** Names the request in logs and in its answer. */
  readonly requestId: string;
  /** The format in which its client takes an answer in parts; undefined if it wants the answer whole. */
  readonly parts?: PartsFormat | undefined;
  readonly takesMessages: boolean;
  readonly client?: ClientName | undefined;
  /** The trace context of the request, or that of its span if the operation is traced. */
  trace: TraceContext;
  /** The span of its operation; undefined without tracing, and once it has ended while the operation goes on. */
  span: OperationSpan | undefined;
  readonly tool?: string | undefined;
  /** The time since which the client has read nothing although bytes wait for it; undefined if no bytes wait. */
  readonly stuckSince: number | undefined;
  /** The time until which the client may stop reading. The more it has read, the longer it may pause. */
  readonly pausesUntil: number;
  hasLeft(): boolean;
  onLeave(listener: () => void): void;
  /**
   * Called when only a part of the request is still kept in memory: the text of its document, and the JSON of the
   * variables that its operation declares.
   */
  onKept(query: string, variablesText: string): void;
  /** Calls back when the answer has been taken, or the client has left. */
  onClose(listener: () => void): void;
  /** Aborts the connection, so that the client sees that its answer is incomplete. */
  disconnect(): void;
}

/** A tracing system. */
export interface Tracing {
  /** Begins the span of an operation; `trace` is the context of its request. */
  readonly begin: (request: Pick<RequestContext, 'trace' | 'method' | 'requestId' | 'tool'>) => OperationSpan;
}

/** One operation in a tracing system. Its REST calls are its children. */
export interface OperationSpan extends CallSpans {
  readonly trace: TraceContext;
  /**
   * Ends the span. `prepared` is undefined if the document is not known. `code` is that of the first error, or
   * `CLIENT_LEFT`.
   */
  readonly end: (prepared: PreparedOperation | undefined, code: string | undefined) => void;
}

/** The name of a caller, its operation and the variables together. Runs with equal names are equal. */
export function nameOf({ document, variablesText }: OperationRun, caller: Caller): string {
  return `${callerNameOf(caller)} ${document.prepared.serial} ${shortName(variablesText)}`;
}

/** The facts about an operation that its report needs. A refused operation may have no document or no cost. */
export interface AnsweredOperation extends Pick<OperationRun, 'params' | 'request' | 'startedAt'> {
  readonly document: Resolved | undefined;
  readonly cost: Cost | undefined;
}

/**
 * One operation whose document is known. It holds its request, its document, and its cost, which counts its REST calls.
 * Each execution has a `GatewayContext`, which resolvers get. The context holds the counter of the answer with its
 * deadline, and the client of the REST API. To this client, the operation is a `RestRun`.
 */
export class OperationRun {
  readonly params: GraphQLParams;
  readonly request: RequestContext;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly document: Resolved;
  /** The variables that the operation declares, as JSON. Variables with equal texts are equal. */
  readonly variablesText: string;
  readonly cost: Cost;
  #coerced: VariableValues | undefined;

  /** Determines the cost. Throws as the constructor of `Cost` does. */
  constructor(
    params: GraphQLParams,
    request: RequestContext,
    startedAt: number,
    document: Resolved,
    variablesText: string,
    costs: Costs,
  ) {
    this.params = params;
    this.request = request;
    this.startedAt = startedAt;
    this.document = document;
    this.variablesText = variablesText;
    this.cost = new Cost(this, costs);
  }

  /** The variables, coerced when they are first read. Throws a RefusedDocument if they do not fit. */
  get coerced(): VariableValues {
    this.#coerced ??= this.document.prepared.coerce(this.params.variables);
    return this.#coerced;
  }
}
