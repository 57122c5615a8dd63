/** Features of Node 26 that TypeScript's libraries do not describe yet. */
interface JSON {
  /** A value that `JSON.stringify` writes out as `text` (ECMAScript proposal "JSON.parse source text access"). */
  rawJSON(text: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
  parse(
    text: string,
    reviver: (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown,
  ): unknown;
}
