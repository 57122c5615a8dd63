import type { Claim, MemoryRoom } from '../memory.ts';

/** The most that the data of an answer may have. */
export interface AnswerLimits {
  readonly maxAnswerObjects: number;
  readonly maxAnswerBytes: number;
}

/** The weight that one object of a selection adds to an answer. */
export interface ObjectWeight {
  /** Itself, and the objects that come with it without a resolver or a call of their own. */
  readonly objects: number;
  /** Bytes of its punctuation and response keys. */
  readonly bytes: number;
  /** The number of its leaves. */
  readonly leaves: number;
  /** The number of global ids among them, each of which names the owner too. */
  readonly ids: number;
  /** The most times that it answers the same column of its row. */
  readonly copies: number;
}

/** A limit that an answer exceeds. */
export interface AnswerExcess {
  /** `values` are objects and lists, those inside JSON values included. */
  readonly unit: 'objects' | 'bytes' | 'values';
  /** The count when the limit was passed. */
  readonly count: number;
  readonly limit: number;
  /** The response path at which that was, without the places in lists. */
  readonly path: string;
}

/** A place in an answer, as executors give it to resolvers. */
interface ResponsePath {
  readonly prev: ResponsePath | undefined;
  readonly key: string | number;
}

/** Longest text of a value that is in no row: null, a number, the name of an enum's value. */
const longestLeaf = 40;

/** The length of a global id beyond that, without its owner's id: an organization's holds a UUID that need not be in any row. */
const longerId = 32;

/** A number such as `1e20` is answered with five times as many characters, a control character in a CSV with six. */
const mostGrowth = 6;

/** Memory that an object takes while its answer is made, beside its structure as text, in bytes. */
const objectBytes = 500;

/** Answers that take less while they are made, as nearly all do, are not counted by the process. */
const smallAnswer = 2 ** 20;

/**
 * Counts what one operation answers while resolvers make it: objects, the bytes of their structure, and how often text
 * of the upstream's may be repeated in them. All are upper counts: an object that turns out to be null counts too.
 */
export class AnswerCounter {
  readonly #limits: AnswerLimits;
  readonly #room: MemoryRoom;
  readonly #onExcess: () => void;
  #claim: Claim | undefined;
  #state: 'open' | 'exceeded' | 'shed' | 'done' = 'open';
  #excess: AnswerExcess | undefined;
  #objects = 0;
  /** Bytes of structure. */
  #bytes = 0;
  /** Bytes of values that are in no row, at most. */
  #values = 0;
  #copies = 0;
  /** Characters that were read from the upstream before the operation began. */
  #received = 0;

  /**
   * `onExcess` ends the calls that are under way for the answer. Call `finish` when the answer is made, or its room
   * stays taken.
   */
  constructor(limits: AnswerLimits, room: MemoryRoom, onExcess: () => void) {
    this.#limits = limits;
    this.#room = room;
    this.#onExcess = onExcess;
  }

  /** The limit that was exceeded while the answer was made. */
  get excess(): AnswerExcess | undefined {
    return this.#excess;
  }

  /** True if the process had no room for the answer. */
  get isShed(): boolean {
    return this.#state === 'shed';
  }

  /** Nothing more is answered: tasks that still run have been given up. */
  finish(): void {
    if (this.#state === 'open') this.#state = 'done';
    this.#claim?.release();
  }

  /**
   * Counts objects before they are made. `owner` is the length of the ids that their global ids hold beside their own.
   * Throws once a limit is exceeded, and from then on.
   */
  add(count: number, { objects, bytes, leaves, ids, copies }: ObjectWeight, at: ResponsePath, owner = 0): void {
    if (this.#state !== 'open') throw new AnswerLimitError();
    this.#objects += count * objects;
    this.#bytes += count * bytes;
    this.#values += count * (leaves * longestLeaf + ids * (longerId + owner * 2));
    // However many objects a list has, each row of it is another.
    this.#copies += copies;
    const { maxAnswerObjects, maxAnswerBytes } = this.#limits;
    if (this.#objects > maxAnswerObjects) this.#end('objects', this.#objects, maxAnswerObjects, at);
    if (this.#bytes > maxAnswerBytes) this.#end('bytes', this.#bytes, maxAnswerBytes, at);
    const weight = this.#bytes + this.#objects * objectBytes;
    if (weight > smallAnswer) this.#claimRoom(weight);
  }

  /** Counts a text that is answered beside the columns of rows. */
  addText({ length }: string): void {
    this.#values += length * mostGrowth;
  }

  /** Counts a value of the upstream's that is answered beside the columns of rows. */
  addValue(): void {
    this.#copies += 1;
  }

  /** Counts characters that the upstream answered beside the operation's own calls. */
  receive(characters: number): void {
    this.#received += characters;
  }

  /**
   * The most bytes that the data can have, with what is selected on the root: `received` characters were read from the
   * upstream.
   */
  mostBytes(root: ObjectWeight, received: number): number {
    const structure = this.#bytes + root.bytes + this.#values + root.leaves * longestLeaf + root.ids * longerId;
    return structure + (this.#copies + root.copies) * (received + this.#received) * mostGrowth;
  }

  #end(unit: AnswerExcess['unit'], count: number, limit: number, at: ResponsePath): void {
    this.#excess = { unit, count, limit, path: textOf(at) };
    this.#state = 'exceeded';
    this.#onExcess();
    throw new AnswerLimitError();
  }

  #claimRoom(bytes: number): void {
    this.#claim ??= this.#room.claim();
    if (this.#claim.resize(bytes)) return;
    this.#state = 'shed';
    this.#onExcess();
    throw new AnswerLimitError();
  }
}

/**
 * The answer has reached a limit. No client sees it: the part that was made of the answer is dropped (see
 * `AnswerCounter.excess`).
 */
export class AnswerLimitError extends Error {
  override readonly name = 'AnswerLimitError';

  constructor() {
    super('the answer has as much as it may');
  }
}

function textOf(path: ResponsePath): string {
  const names: string[] = [];
  for (let at: ResponsePath | undefined = path; at !== undefined; at = at.prev)
    if (typeof at.key === 'string') names.unshift(at.key);
  return names.join('.');
}
