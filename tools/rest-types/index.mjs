import openapiTypeScript, { astToString } from 'openapi-typescript';

/**
 * The types of an OpenAPI document as TypeScript source.
 * @param {string} document
 */
export async function typesOf(document) {
  return astToString(await openapiTypeScript(document, { silent: true }));
}
