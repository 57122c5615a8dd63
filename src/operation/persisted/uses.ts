/** Counters of the operations of one listed document. */
export interface DocumentUse {
  readonly id: string;
  hits: number;
  /** Answers with at least one error. */
  errors: number;
  restCalls: number;
}

/** Counters of automatic persisted queries. */
export interface AutomaticUse {
  hits: number;
  misses: number;
  registrations: number;
}

/** Counters of persisted documents. They only increase, and documents that are no longer listed are dropped. */
export interface DocumentUses {
  readonly automatic: AutomaticUse;
  /** The counters of a listed document, the same object for the same id. */
  readonly of: (id: string) => DocumentUse;
  readonly keep: (ids: ReadonlySet<string>) => void;
  readonly all: () => readonly Readonly<DocumentUse>[];
}

/** Counters that all start at zero. */
export function createDocumentUses(): DocumentUses {
  const uses = new Map<string, DocumentUse>();
  return {
    automatic: { hits: 0, misses: 0, registrations: 0 },
    of: (id) => {
      const use = uses.get(id) ?? { id, hits: 0, errors: 0, restCalls: 0 };
      uses.set(id, use);
      return use;
    },
    keep: (ids) => {
      for (const id of uses.keys()) if (!ids.has(id)) uses.delete(id);
    },
    all: () => [...uses.values()],
  };
}
