import type { Caller } from '../rest/caller.ts';
import { type Tenants, withRoles } from '../rest/tenants.ts';

/** The most streams of a process. */
export interface StreamLimits {
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
}

/** A stream that is open, and the functions that tell it of a change and that end it. */
export interface OpenStream {
  readonly caller: Caller;
  readonly onTenantChange: () => void;
  readonly cut: () => void;
}

type Opening =
  | 'open'
  // Its caller already has the most streams that it may have.
  | 'too many of its caller'
  // The process already has the most streams that it may have, or opens no more of them.
  | 'too many';

/** The open streams of one process. The client of a stream stays connected as long as the stream lasts. */
export class Streams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<OpenStream>();
  readonly #byCaller = new Map<string, number>();
  /** The current tenants; undefined until they have changed since the start. */
  #tenants: Tenants | undefined;
  #isClosed = false;
  messages = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  open(stream: OpenStream): Opening {
    const { maxStreams, maxStreamsPerCaller } = this.#limits;
    const name = nameOf(stream.caller);
    const own = this.#byCaller.get(name) ?? 0;
    if (this.#isClosed || this.#open.size >= maxStreams) return 'too many';
    if (own >= maxStreamsPerCaller) return 'too many of its caller';
    this.#open.add(stream);
    this.#byCaller.set(name, own + 1);
    // The tenants may have changed since the caller was authenticated.
    if (this.#tenants !== undefined && hasChanged(stream, this.#tenants)) stream.onTenantChange();
    return 'open';
  }

  close(stream: OpenStream): void {
    if (!this.#open.delete(stream)) return;
    const name = nameOf(stream.caller);
    const own = (this.#byCaller.get(name) ?? 0) - 1;
    if (own > 0) this.#byCaller.set(name, own);
    else this.#byCaller.delete(name);
  }

  /** Replaces the entries of tenants, and notifies the streams whose entries have changed. */
  takeTenants(tenants: Tenants): void {
    this.#tenants = tenants;
    for (const stream of this.#open) if (hasChanged(stream, tenants)) stream.onTenantChange();
  }

  /** Aborts all streams and opens no new ones: their clients reconnect elsewhere. */
  cutAll(): void {
    this.#isClosed = true;
    for (const { cut } of this.#open) cut();
  }
}

/** The owner of a stream: a key, or the user of a tenant. */
function nameOf({ sharingKey, tenant, subject = '' }: Caller): string {
  return tenant === undefined ? sharingKey : `${tenant.name}\n${subject}`;
}

/** True if the entry of the stream's tenant has changed for the roles of its caller. */
function hasChanged({ caller: { tenant } }: OpenStream, tenants: Tenants): boolean {
  if (tenant === undefined) return false;
  const entry = tenants.get(tenant.name);
  return (entry && withRoles(entry, tenant.roles?.keys() ?? []))?.entryHash !== tenant.entryHash;
}
