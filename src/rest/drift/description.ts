/** The types of JSON values; integers are a type of their own. */
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** The OpenAPI document's description of a value; empty if any JSON will do. */
export interface Shape {
  readonly types?: readonly JsonType[];
  /** The values that the document names, by `enum` or `x-known-values`. */
  readonly known?: readonly (string | number | null)[];
  /** The items of an array. */
  readonly items?: Shape;
  /** The view that describes an object's members. */
  readonly view?: string;
  /** Shapes of which a value has one. */
  readonly either?: readonly Shape[];
  /** True if it is only for requests. An answer need not have it. */
  readonly writeOnly?: boolean;
}

/** The members of an object. */
export interface View {
  /** True for a row of a noun. Only its members are columns, which the upstream alone names. */
  readonly isRow: boolean;
  readonly required: readonly string[];
  readonly columns: Readonly<Record<string, Shape>>;
}

/** The answers of the REST API's GET operations. */
export interface Answers {
  /** By the route of the operation. */
  readonly operations: Readonly<Record<string, { readonly id: string; readonly body: Shape }>>;
  readonly views: Readonly<Record<string, View>>;
}
