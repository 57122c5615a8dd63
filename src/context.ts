import { AnswerCounter, type CounterLimits } from './answer-counter.ts';
import type { TailMessage } from './live/listener.ts';
import { Loaders } from './loaders/loaders.ts';
import type { SavedCalls } from './loaders/window-loader.ts';
import type { MemoryRoom } from './memory.ts';
import { RestApi } from './rest/api.ts';
import { rightsOf } from './rest/caller.ts';
import type { UpstreamError } from './rest/errors.ts';
import type { ListRef } from './rest/pages.ts';
import type { Position } from './rest/positions.ts';
import type { Rights } from './rest/reach.ts';
import type { AnyRestRun } from './rest/rest-run.ts';
import type { Upstream } from './rest/upstream.ts';

/**
 * The format of an answer in parts. `v0.2` has `pending`, `incremental` and `completed`
 * (https://specs.apollo.dev/incremental/v0.2). `20220824` is the proposal of that date, in which each part is complete
 * in itself (https://specs.apollo.dev/incremental/v0.1).
 */
export type PartsFormat = 'v0.2' | '20220824';

/** The state and collaborators of one operation. Operations share nothing but what `rest` shares: calls and answers. */
export interface GatewayContext {
  readonly rest: RestApi;
  /** The reason why all REST calls of the operation would fail; undefined if they may succeed. */
  readonly keyFault?: UpstreamError | undefined;
  /** The rights of its caller; undefined if the caller has all rights of the key. */
  readonly rights?: Rights | undefined;
  readonly loaders: Loaders;
  /** The format of the parts of the operation; undefined if it is answered as a whole. */
  readonly parts?: PartsFormat | undefined;
  /** Set only for work ahead of the executor. Returns true until the executor takes that work over. */
  readonly isStillAhead?: (() => boolean) | undefined;
  readonly cursors: CursorCodec;
  /** The largest `first` or `last`, and the most rows that one REST call asks for. */
  readonly maxPageSize: number;
  /** Counts the objects and bytes of the answer, and ends the operation at its limits. */
  readonly answerCounter: AnswerCounter;
  /** Set only at the start of a subscription. Follows the rows added to a list, from a position or from now. */
  readonly follow?: ((list: ListRef, after: Position | undefined) => AsyncIterable<TailMessage>) | undefined;
}

/** Writes and reads cursors. */
export interface CursorCodec {
  /** The cursor of a row. `position` is the place at which the list continues after that row. */
  readonly encode: (list: ListRef, position: Position) => string;
  /** The position that a cursor of this list holds. A changed or foreign cursor is a UserInputError. */
  readonly decode: (list: ListRef, cursor: string, argument: string) => Position;
  /**
   * The cursor of an activity log. `query` is the upstream's query for the next page. `log` is the kind of the log:
   * cursors of one kind are refused for another kind.
   */
  readonly encodeQuery: (log: string, query: string) => string;
  /** The query that a cursor of an activity log holds. A changed or foreign cursor is a UserInputError. */
  readonly decodeQuery: (log: string, cursor: string, argument: string) => string;
}

/** Makes the context of one operation. */
export type CreateContext = (run: AnyRestRun) => GatewayContext;

/** Collaborators and limits of the contexts of all operations. */
export interface ContextOptions extends CounterLimits {
  readonly maxPageSize: number;
  readonly cursors: CursorCodec;
  readonly upstream: Pick<Upstream, 'clientFor' | 'keyFaultOf'>;
  readonly room: MemoryRoom;
  readonly saved: SavedCalls;
}

/** Makes the function that makes the context of each operation. */
export function createContexts(options: ContextOptions): CreateContext {
  const { maxPageSize, cursors, upstream, room, saved } = options;
  return (run) => {
    const rest = new RestApi(upstream.clientFor(run));
    return {
      rest,
      keyFault: upstream.keyFaultOf(run.caller),
      rights: rightsOf(run.caller),
      loaders: new Loaders(rest, maxPageSize, saved),
      cursors,
      maxPageSize,
      answerCounter: new AnswerCounter(options, room, run.deadline),
    };
  };
}
