import type { TypedDocumentString } from '../generated/graphql.ts';
import { noAnswer } from './GatewayError.ts';

/** The id of a document. What is read with it can be cached under it as well. */
export function idOf(document: { readonly __meta__?: Readonly<Record<string, unknown>> | undefined }): string {
  return String(document.__meta__?.['hash']);
}

/** False once the gateway has answered that it does not know a document. */
let hasList = true;

/** Asks the gateway for a document by its id. Throws a GatewayError if nothing is answered. */
export async function request<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  accept: string,
  signal?: AbortSignal,
): Promise<Response> {
  const documentId = idOf(document);
  // Only while developing: the bundle has no texts, so in production the gateway needs the list.
  if (import.meta.env.DEV && !hasList) return send({ query: await textOf(documentId), variables }, accept, signal);
  const response = await send({ documentId, variables }, accept, signal);
  if (!import.meta.env.DEV || response.status !== 404) return response;
  hasList = false;
  return request(document, variables, accept, signal);
}

async function textOf(documentId: string): Promise<string | undefined> {
  const { default: texts } = await import('../generated/persisted-documents.json');
  return (texts as Readonly<Record<string, string>>)[documentId];
}

async function send(params: object, accept: string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(params),
      signal: signal ?? null,
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw noAnswer(cause);
  }
}
