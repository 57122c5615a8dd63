import { exactDigits, isObject, type JsonObject } from '../values.ts';

/** The types of JSON values; integers are a type of their own. */
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** The description of a value in the OpenAPI document; empty if any JSON will do. */
export interface Shape {
  readonly types?: readonly JsonType[];
  /** The values that the document names, by `enum` or `x-known-values`. */
  readonly known?: readonly (string | number | null)[];
  readonly items?: Shape;
  /** The view of an object. */
  readonly view?: string;
  /** The value has one of these shapes. */
  readonly either?: readonly Shape[];
  /** True if the value is only for requests. */
  readonly writeOnly?: boolean;
}

/** The members of an object. */
export interface View {
  /** True for a row of a noun. Only rows are searched for members that the document lacks. */
  readonly isRow: boolean;
  readonly required: readonly string[];
  readonly columns: Readonly<Record<string, Shape>>;
}

/** The descriptions of the answers to GET operations. */
export interface Answers {
  /** By the id of the operation. */
  readonly operations: Readonly<Record<string, Shape>>;
  readonly views: Readonly<Record<string, View>>;
}

/** The ways in which an answer can differ from the OpenAPI document. */
export type DriftKind =
  // A row has a column that the document does not have.
  | 'unknown_column'
  // A row in the detail view lacks a column that the document has there.
  | 'missing_column'
  | 'wrong_type'
  // A value is not among those that the document names.
  | 'unknown_enum'
  // A value is null although the document does not allow null.
  | 'unexpected_null';

/** A difference between an answer and the OpenAPI document. */
export interface Difference {
  readonly kind: DriftKind;
  /** Such as `Dashboard`. */
  readonly view: string;
  /** A member of the view; `*` for the whole answer. */
  readonly column: string;
  /** The text in front of the column in metrics and the log, such as `created_by.`. */
  readonly prefix: string;
  /** True if an item of the array in the column differs. */
  readonly isItem: boolean;
  /** Undefined for a missing column. */
  readonly value: unknown;
}

/** True if a row is not compared, because it belongs to another organization and the upstream may leave columns out. */
export type IsForeign = (view: string, row: JsonObject) => boolean;

/** Compares answers with their description. Skips values that the document does not describe. */
export class Comparison {
  readonly #views: Answers['views'];
  readonly #isForeign: IsForeign;
  readonly #note: (difference: Difference) => void;

  /** `note` is called with each difference, also with equal ones. */
  constructor({ views }: Answers, isForeign: IsForeign, note: (difference: Difference) => void) {
    this.#views = views;
    this.#isForeign = isForeign;
    this.#note = note;
  }

  compare(body: unknown, shape: Shape): void {
    this.#value(body, shape, { view: '', column: '*', prefix: '', isItem: false }, true);
  }

  /** `isDetail` is true if the value and the rows below it are in the detail view. */
  #value(value: unknown, shape: Shape, at: ValuePath, isDetail: boolean): void {
    const fitting = shape.either === undefined ? shape : shape.either.find((one) => this.#fits(value, one));
    const type = typeOf(value);
    if (fitting === undefined || !isOneOf(type, fitting)) {
      this.#note({ kind: type === 'null' ? 'unexpected_null' : 'wrong_type', ...at, value });
      return;
    }
    const { known, items, view } = fitting;
    if (known !== undefined && type !== 'null' && !known.some((one) => one === value))
      this.#note({ kind: 'unknown_enum', ...at, value });
    if (items !== undefined && Array.isArray(value)) this.#items(value, items, { ...at, isItem: true });
    if (view !== undefined && isObject(value)) this.#object(value, view, at, isDetail);
  }

  #items(list: readonly unknown[], items: Shape, at: ValuePath): void {
    for (const item of list) this.#value(item, items, at, false);
  }

  #object(row: JsonObject, name: string, at: ValuePath, isDetail: boolean): void {
    const view = this.#views[name];
    if (view === undefined || this.#isForeign(name, row)) return;
    const isOwn = view.isRow && at.prefix === '' && !(this.#views[at.view]?.isRow ?? false);
    const prefix = isOwn || !view.isRow ? '' : `${at.column}.`;
    for (const [column, shape] of Object.entries(view.columns)) {
      const value = row[column];
      if (value !== undefined) this.#value(value, shape, { view: name, column, prefix, isItem: false }, isDetail);
      else if (isOwn && isDetail && shape.writeOnly !== true)
        this.#note({ kind: 'missing_column', view: name, column, prefix, isItem: false, value });
    }
    if (view.isRow) this.#unknown(row, name, view, prefix);
  }

  #unknown(row: JsonObject, name: string, { columns }: View, prefix: string): void {
    for (const column of Object.keys(row)) {
      if (Object.hasOwn(columns, column)) continue;
      this.#note({ kind: 'unknown_column', view: name, column, prefix, isItem: false, value: row[column] });
    }
  }

  /** True if a value has one of the types of a shape, and every member that the shape requires. */
  #fits(value: unknown, shape: Shape): boolean {
    if (!isOneOf(typeOf(value), shape)) return false;
    const required = shape.view === undefined ? [] : (this.#views[shape.view]?.required ?? []);
    return required.length === 0 || (isObject(value) && required.every((name) => value[name] !== undefined));
  }
}

type ValuePath = Pick<Difference, 'view' | 'column' | 'prefix' | 'isItem'>;

/** The JSON type of a value from `parseJson`, whose largest integers are objects. */
export function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return exactDigits(value) === undefined ? 'object' : 'integer';
}

function isOneOf(type: JsonType, { types }: Shape): boolean {
  return types === undefined || types.includes(type) || (type === 'integer' && types.includes('number'));
}
