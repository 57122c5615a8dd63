import { once } from 'node:events';
import type { Server } from 'node:http';
import { startCapturing } from './capture.ts';
import { document } from './generated/document.ts';
import { createHttpServer } from './http.ts';
import { createAnswering } from './routes.ts';
import { demoKeys, memberKeys } from './seed/organizations.ts';
import { seedOnce } from './seed/seed.ts';
import { openStore } from './store.ts';
import type { Switches } from './switches.ts';

export { demoKeys, memberKeys };

/** How the workspace runs. */
export interface WorkspaceOptions extends Switches {
  /** 0 picks a free one. */
  readonly port: number;
  readonly host: string;
  /** SQLite file that keeps the data over a restart; in memory if absent. */
  readonly database?: string | undefined;
  /** Events that each example project captures by itself, in a minute: from 0, the default, to 600. */
  readonly eventsPerMinute?: number | undefined;
}

/** A running workspace. */
export interface Workspace {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /** A personal API key of a user of the first organization. */
  readonly demoKey: string;
  close(): Promise<void>;
}

/** Starts the REST API over its own database, with demonstration data if that is new. */
export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { port, host, database, eventsPerMinute = 0 } = options;
  const store = openStore(database ?? ':memory:');
  // A file must hold all of the data at once, because it may outlive this process.
  seedOnce(store, { lateEvents: database === undefined });
  const server = createHttpServer(createAnswering(document, store, options));
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    store.database.close();
    throw error;
  }
  const stopCapturing = startCapturing(store, eventsPerMinute);
  return {
    url: urlOf(server),
    demoKey: demoKeys[0],
    close: async () => {
      stopCapturing();
      await server[Symbol.asyncDispose]();
      store.database.close();
    },
  };
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a server that listens on a port');
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
