import { parse } from 'yaml';

/** The TypeScript source of the document that the embedded workspace serves: YAML takes 60 ms to read. */
export function serviceSource(openapi: string): string {
  const document = JSON.stringify(parse(openapi, withoutProse), undefined, 2);
  return [
    "import type { JsonObject } from '../json.ts';",
    '',
    '/** The OpenAPI document of this service, without what is for people. */',
    `export const document: JsonObject = ${document};`,
  ].join('\n');
}

/** A property may be called `description`, too: it is described by an object. */
function withoutProse(name: unknown, value: unknown): unknown {
  return typeof value === 'string' && (name === 'description' || name === 'summary') ? undefined : value;
}
