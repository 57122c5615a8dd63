import type { Caller } from '../rest/caller.ts';
import type { Tenants } from '../rest/tenants.ts';

/** How many streams a process has at most. */
export interface StreamLimits {
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
}

/** A stream that is open. */
export interface OpenStream {
  readonly caller: Caller;
  /** What its tenant may reach is not what it was when it began. */
  readonly onTenantChange: () => void;
  /** Breaks its connection off. */
  readonly cut: () => void;
}

/** What became of a stream that was to be opened. */
type Opening =
  | 'open'
  // Its caller has as many as it may.
  | 'too many of its caller'
  // There are as many as there may be, or none may begin any more.
  | 'too many';

/** The streams of one process, for which their clients stay connected. */
export class Streams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<OpenStream>();
  readonly #byCaller = new Map<string, number>();
  /** Undefined until they have changed since the start. */
  #tenants: Tenants | undefined;
  #isClosed = false;
  /** Messages that were sent so far. */
  messages = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Opens a stream if it may be. */
  open(stream: OpenStream): Opening {
    const { maxStreams, maxStreamsPerCaller } = this.#limits;
    const name = nameOf(stream.caller);
    const own = this.#byCaller.get(name) ?? 0;
    if (this.#isClosed || this.#open.size >= maxStreams) return 'too many';
    if (own >= maxStreamsPerCaller) return 'too many of its caller';
    this.#open.add(stream);
    this.#byCaller.set(name, own + 1);
    // They may have changed since its caller was authenticated.
    if (this.#tenants !== undefined && hasChanged(stream, this.#tenants)) stream.onTenantChange();
    return 'open';
  }

  /** A stream has ended. */
  close(stream: OpenStream): void {
    if (!this.#open.delete(stream)) return;
    const name = nameOf(stream.caller);
    const own = (this.#byCaller.get(name) ?? 0) - 1;
    if (own > 0) this.#byCaller.set(name, own);
    else this.#byCaller.delete(name);
  }

  /** The entries of tenants are these from now on: streams that began with others are notified. */
  takeTenants(tenants: Tenants): void {
    this.#tenants = tenants;
    for (const stream of this.#open) if (hasChanged(stream, tenants)) stream.onTenantChange();
  }

  /** Breaks all streams off, and opens none any more: their clients connect again elsewhere. */
  cutAll(): void {
    this.#isClosed = true;
    for (const { cut } of this.#open) cut();
  }
}

/** Who has a stream: a key, or the user of a tenant. */
function nameOf({ hash, tenant, subject = '' }: Caller): string {
  return tenant === undefined ? hash : `${tenant.name}\n${subject}`;
}

function hasChanged({ caller: { tenant } }: OpenStream, tenants: Tenants): boolean {
  return tenant !== undefined && tenants.get(tenant.name)?.entryHash !== tenant.entryHash;
}
