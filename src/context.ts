import type { CursorCodec } from './graphql/cursors.ts';
import type { Loaders } from './loaders/loaders.ts';
import type { RestApi } from './rest/api.ts';

/** What one operation has. Nothing of it is shared with another operation but through `rest`'s single flight. */
export interface GatewayContext {
  readonly rest: RestApi;
  readonly loaders: Loaders;
  readonly cursors: CursorCodec;
  /** The largest `first` or `last`, and the most rows that one REST call asks for. */
  readonly maxPageSize: number;
}
