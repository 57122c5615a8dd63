import { AnswerCounter, type CounterLimits } from '../answer-counter.ts';
import type { CursorCodec, GatewayContext } from '../context.ts';
import { Loaders } from '../loaders/loaders.ts';
import type { SavedCalls } from '../loaders/window-loader.ts';
import type { MemoryRoom } from '../memory.ts';
import { RestApi } from '../rest/api.ts';
import { rightsOf } from '../rest/caller.ts';
import type { AnyRestRun } from '../rest/rest-run.ts';
import type { Upstream } from '../rest/upstream.ts';

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
    const { caller, deadline } = run;
    const rest = new RestApi(upstream.clientFor(run));
    const answerCounter = new AnswerCounter(options, room, () => deadline.end('limit'));
    return {
      rest,
      keyFault: upstream.keyFaultOf(caller),
      rights: rightsOf(caller),
      loaders: new Loaders(rest, maxPageSize, saved),
      cursors,
      maxPageSize,
      answerCounter,
    };
  };
}
