import type { ChildProcess } from 'node:child_process';
import { isObject } from '../rest/values.ts';

/** A connection that has been handed to a worker and that the worker does not read yet. */
interface Connection {
  readonly close: () => void;
}

/** The numbers of connections that a worker was handed. */
export interface Handovers {
  readonly handed: number;
  /** The connections that it has not taken yet. */
  readonly untaken: number;
}

/**
 * Counts the connections that a worker is handed. When the worker ends, closes those that it had not taken; the
 * operating system closes the others. Node's cluster would wait forever for the acknowledgement of the ended worker,
 * and so would the clients. In `handoff` of lib/internal/cluster/round_robin_handle.js, the primary sends a message
 * `newconn` with a number. The worker sends an `ack` with that number before it reads from the connection.
 */
export function watchHandovers(worker: ChildProcess): Handovers {
  const untaken = new Map<unknown, Connection>();
  let handed = 0;
  const send = worker.send.bind(worker);
  const watched = (message: unknown, handle?: unknown, ...others: unknown[]): unknown => {
    if (isObject(message) && message['act'] === 'newconn' && isConnection(handle)) {
      handed += 1;
      untaken.set(message['seq'], handle);
    }
    return Reflect.apply(send, undefined, [message, handle, ...others]);
  };
  Object.defineProperty(worker, 'send', { value: watched });
  worker.on('internalMessage', (message: unknown) => {
    if (isObject(message)) untaken.delete(message['ack']);
  });
  worker.once('exit', () => {
    for (const connection of untaken.values()) connection.close();
    untaken.clear();
  });
  return {
    get handed() {
      return handed;
    },
    get untaken() {
      return untaken.size;
    },
  };
}

function isConnection(handle: unknown): handle is Connection {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
}
