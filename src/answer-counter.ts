import type { Claim, MemoryRoom } from './memory.ts';
import type { OperationDeadline } from './rest/operation-deadline.ts';

/** The most objects and bytes of the data of an answer. */
export interface CounterLimits {
  readonly maxAnswerObjects: number;
  readonly maxAnswerBytes: number;
}

/** The weight that one object of a selection adds to an answer. */
export interface ObjectWeight {
  /** The number of objects: the object itself, and the objects inside it that cost no further call. */
  readonly objects: number;
  /** The number of bytes of its punctuation and response keys. */
  readonly bytes: number;
  readonly leaves: number;
  /** The number of global ids among the leaves. A global id is longer than an upstream id. */
  readonly ids: number;
  /** The most times that one text of the upstream may appear in the object. Several fields may read the same column. */
  readonly copies: number;
}

/** A limit that an answer exceeds. */
export interface AnswerExcess {
  /** `values` counts objects and lists, including those inside values of the type `JSON`. */
  readonly unit: 'objects' | 'bytes' | 'values';
  readonly count: number;
  readonly limit: number;
  /** The response path at which the limit was passed, without list indexes. */
  readonly path: string;
}

/** A place in an answer, as executors give it to resolvers. */
interface ResponsePath {
  readonly prev: ResponsePath | undefined;
  readonly key: string | number;
}

/** The most characters of a value that comes from no row: null, a number, or the name of an enum's value. */
const longestLeaf = 40;

/**
 * The most characters that a global id adds to `longestLeaf`, not counting the upstream ids in it. The two numbers
 * together have room for the UUID of an organization, which may come from no row.
 */
const longerId = 32;

/**
 * The largest factor by which a text grows in an answer. A number such as `1e20` takes five times its characters, a
 * control character in a CSV six times.
 */
const mostGrowth = 6;

/** The memory of an object while its answer is made, in bytes, in addition to the text of its structure. */
const objectBytes = 500;

/** The size, in bytes, below which an answer claims no memory while it is made. Nearly all answers stay below it. */
const smallAnswer = 2 ** 20;

/**
 * Counts the answer of one operation while resolvers make it: objects, the bytes of their structure, and how often a
 * text of the upstream may be repeated. All counts are upper bounds: an object that turns out to be null counts too.
 */
export class AnswerCounter {
  /** Ends the operation if its answer exceeds a limit. `received` counts the characters of the upstream's answers. */
  readonly deadline: OperationDeadline;
  readonly #limits: CounterLimits;
  readonly #room: MemoryRoom;
  #claim: Claim | undefined;
  #state: 'open' | 'exceeded' | 'no room' | 'done' = 'open';
  #excess: AnswerExcess | undefined;
  #objects = 0;
  /** The number of bytes of structure. */
  #bytes = 0;
  /** The most bytes of the values that come from no row. */
  #values = 0;
  #copies = 0;
  /** The number of characters that a stream's polls got from the upstream, not those of the operation's own calls. */
  #received = 0;

  constructor(limits: CounterLimits, room: MemoryRoom, deadline: OperationDeadline) {
    this.#limits = limits;
    this.#room = room;
    this.deadline = deadline;
  }

  get excess(): AnswerExcess | undefined {
    return this.#excess;
  }

  /** True if the process had no room for the answer. */
  get hadNoRoom(): boolean {
    return this.#state === 'no room';
  }

  /** Ends the operation and the count, and releases their memory. Afterwards, `add` throws for tasks that still run. */
  finish(): void {
    this.deadline.finish();
    if (this.#state === 'open') this.#state = 'done';
    this.#claim?.release();
  }

  /**
   * Counts objects before they are made. `idLength` is the number of characters that upstream ids take in each global
   * id: the owner's id, and the object's own id if it is already known. Throws as soon as a limit is exceeded, and at
   * each later call.
   */
  add(count: number, { objects, bytes, leaves, ids, copies }: ObjectWeight, at: ResponsePath, idLength = 0): void {
    if (this.#state !== 'open') throw new AnswerLimitError();
    this.#objects += count * objects;
    this.#bytes += count * bytes;
    this.#values += count * (leaves * longestLeaf + ids * (longerId + idLength * 2));
    // `copies` is how often one object may repeat a text of its row. It is not multiplied by `count`: each object of a
    // list has a row of its own, so a longer list repeats no text more often.
    this.#copies += copies;
    const { maxAnswerObjects, maxAnswerBytes } = this.#limits;
    if (this.#objects > maxAnswerObjects) this.#end('objects', this.#objects, maxAnswerObjects, at);
    if (this.#bytes > maxAnswerBytes) this.#end('bytes', this.#bytes, maxAnswerBytes, at);
    const weight = this.#bytes + this.#objects * objectBytes;
    if (weight > smallAnswer) this.#claimRoom(weight);
  }

  /** Counts a text that comes from no column of a row. */
  addText({ length }: string): void {
    this.#values += length * mostGrowth;
  }

  /** Counts a value of the upstream that comes from no column of a row. */
  addValue(): void {
    this.#copies += 1;
  }

  /** Counts characters that the polls of a stream got from the upstream. */
  receive(characters: number): void {
    this.#received += characters;
  }

  /** The most bytes that the data of the answer can have. `root` is the weight of the selection on the root type. */
  mostBytes(root: ObjectWeight): number {
    const structure = this.#bytes + root.bytes + this.#values + root.leaves * longestLeaf + root.ids * longerId;
    return structure + (this.#copies + root.copies) * (this.deadline.received + this.#received) * mostGrowth;
  }

  #end(unit: AnswerExcess['unit'], count: number, limit: number, at: ResponsePath): void {
    this.#excess = { unit, count, limit, path: pathText(at) };
    this.#stop('exceeded');
  }

  #claimRoom(bytes: number): void {
    this.#claim ??= this.#room.claim();
    if (this.#claim.resize(bytes)) return;
    this.#stop('no room');
  }

  #stop(state: 'exceeded' | 'no room'): never {
    this.#state = state;
    this.deadline.end('limit');
    throw new AnswerLimitError();
  }
}

/** The error of an answer that has reached a limit. Clients never see it: the unfinished answer is dropped. */
export class AnswerLimitError extends Error {
  override readonly name = 'AnswerLimitError';

  constructor() {
    super('the answer has as much as it may');
  }
}

function pathText(path: ResponsePath): string {
  const names: string[] = [];
  for (let at: ResponsePath | undefined = path; at !== undefined; at = at.prev)
    if (typeof at.key === 'string') names.unshift(at.key);
  return names.join('.');
}
