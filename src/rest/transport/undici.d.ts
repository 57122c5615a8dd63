// The used parts of undici. Loading all of it takes twice the time, because it has a whole `fetch` and WebSockets.

/** The `connect` that only the whole of undici gives to its pools. */
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';
  export default function connect(this: Dispatcher, to: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export default errors;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici';
  export default ProxyAgent;
}
