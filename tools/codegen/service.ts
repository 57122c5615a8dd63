import { parse } from 'yaml';

/** The document that the embedded workspace serves, as TypeScript source, because YAML takes 60 ms to read. */
export function serviceSource(openapi: string): string {
  const document = JSON.stringify(parse(openapi, withoutProse), undefined, 2);
  return [
    "import type { JsonObject } from '../json.ts';",
    '',
    '/** The OpenAPI document of this service, without what is for people. */',
    `export const document: JsonObject = ${document};`,
  ].join('\n');
}

/** Leaves out prose. A column with the name `description` stays, because an object describes it. */
function withoutProse(name: unknown, value: unknown): unknown {
  return typeof value === 'string' && (name === 'description' || name === 'summary') ? undefined : value;
}
