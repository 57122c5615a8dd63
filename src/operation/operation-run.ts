import type { GraphQLError } from 'graphql';
import type { PartsFormat } from '../context.ts';
import type { OperationCache } from '../rest/cache/operation-cache.ts';
import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { Caller } from '../rest/caller.ts';
import type { Cost } from './cost.ts';
import type { GraphQLParams } from './params.ts';
import type { Resolved } from './persisted/resolve.ts';
import { shortName } from './variables.ts';

/** Who sent a request. */
export interface Identity {
  readonly caller: Caller | undefined;
  /** Why the request is refused before its operation is looked at. */
  readonly refusal?: GraphQLError | undefined;
  /** Until when its token is good, in milliseconds of `Date.now()`; undefined without one. */
  readonly expiresAt?: number | undefined;
  /** If that is not known at once: who it turns out to be. */
  readonly identifying?: Promise<Identity> | undefined;
}

/** The name of a client program and its version, as it sends them; either may be missing. */
export interface ClientName {
  readonly name: string | undefined;
  readonly version: string | undefined;
}

/** What an operation may know of the request that brought it, whichever transport that was. */
export interface RequestContext extends Identity {
  readonly method: string;
  /** Its `Cache-Control`, if it has one. */
  readonly cacheControl?: string | undefined;
  /** Names the request in logs and in its answer. */
  readonly requestId: string;
  /** How its client takes an answer in parts; undefined if it wants one whole. */
  readonly parts?: PartsFormat | undefined;
  /** True if its client takes the answers of a subscription. */
  readonly takesMessages: boolean;
  /** What its client says of itself. */
  readonly client?: ClientName | undefined;
  /** As it came; once the operation is traced, what stands for its span. */
  trace: TraceContext;
  /** Follows its REST calls; undefined without tracing. */
  spans: CallSpans | undefined;
  /** The tool that an agent uses; undefined if the request is none of an agent's. */
  readonly tool?: string | undefined;
  /** True if the client has left before it was answered. */
  hasLeft(): boolean;
  /** Calls back when the client leaves before it is answered. */
  onLeave(listener: () => void): void;
  /** Called with what is kept of the request from now on: its document, and as JSON the variables that this declares. */
  onKept(query: string, variablesText: string): void;
  /** Calls back when the answer has been taken, or the client has left. */
  onClose(listener: () => void): void;
  /** Breaks the connection off, so that the client sees that its answer is not complete. */
  cut(): void;
}

/** An operation that may be executed. */
export type PlannedRun = OperationRun & { readonly document: Resolved; readonly cost: Cost };

/** The name under which a caller shares operations: tenants that share a key may reach different things with it. */
export function callerNameOf({ tenant, hash }: Caller): string {
  return tenant?.entryHash ?? hash;
}

/** The name of an operation with its variables: equal for equal ones. */
export function nameOf({ document, variablesText }: PlannedRun): string {
  return `${document.prepared.serial} ${shortName(variablesText)}`;
}

/** What is known of one operation so far: each step of the pipeline adds to it, and the report at its end reads it. */
export class OperationRun {
  readonly params: GraphQLParams;
  readonly request: RequestContext;
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  document: Resolved | undefined;
  /** The variables that the operation declares, as JSON: equal for equal ones. */
  variablesText = '';
  cost: Cost | undefined;
  /** What it has of the cache of REST answers; undefined if nothing is cached. */
  cache: OperationCache | undefined;
  /** What its answer is kept as, if it may be given to equal operations later. */
  answerName: string | undefined;

  constructor(params: GraphQLParams, request: RequestContext) {
    this.params = params;
    this.request = request;
  }
}
