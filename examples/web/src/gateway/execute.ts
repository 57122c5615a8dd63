import type { TypedDocumentString } from '../generated/graphql.ts';

/** Something that an operation was asked for and did not give. `code` is one of the gateway's error codes. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: string;
  /** After how many seconds another try may do; undefined if the answer does not say. */
  readonly retryAfter: number | undefined;

  constructor(code: string, message: string, { retryAfter, cause }: { retryAfter?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Whether something failed because the user is not signed in, or not any more. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'UNAUTHENTICATED';
}

/** What an operation gave, and the first thing that is missing of it. Where one relation fails, its siblings are there. */
export interface Result<Data> {
  readonly data: Data;
  readonly failure: GatewayError | undefined;
}

/** The same before it is known whether anything was given at all. */
interface Received<Data> {
  readonly data: Data | null | undefined;
  readonly failure: GatewayError | undefined;
}

/** What a GraphQL server answers: https://graphql.github.io/graphql-over-http/ */
interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly AnswerError[];
}

interface AnswerError {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly upstream?: { readonly retryAfter?: number } };
}

/** The id of a document. What is read with it can be cached under it as well. */
export function idOf(document: { readonly __meta__?: Readonly<Record<string, unknown>> | undefined }): string {
  return String(document.__meta__?.['hash']);
}

/** Whether the gateway has the list of documents, as far as is known. */
let hasList = true;

/** Asks the gateway for a document by its id. Throws a GatewayError where nothing at all is answered. */
export async function execute<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Result<Data>> {
  const documentId = idOf(document);
  let answer = hasList ? await send<Data>({ documentId, variables }, signal) : undefined;
  // Only while developing: the bundle has no texts, so in production the gateway needs the list.
  if (import.meta.env.DEV && (!hasList || answer?.failure?.code === 'PERSISTED_DOCUMENT_NOT_FOUND')) {
    hasList = false;
    answer = await send<Data>({ query: await textOf(documentId), variables }, signal);
  }
  const { data, failure } = answer ?? {};
  if (data !== undefined && data !== null) return { data, failure };
  throw failure ?? new GatewayError('UNKNOWN', 'The gateway answered without data.');
}

async function textOf(documentId: string): Promise<string | undefined> {
  const { default: texts } = await import('../generated/persisted-documents.json');
  return (texts as Readonly<Record<string, string>>)[documentId];
}

async function send<Data>(params: object, signal: AbortSignal | undefined): Promise<Received<Data>> {
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      body: JSON.stringify(params),
      signal: signal ?? null,
    });
    const { data, errors: [error] = [] }: Answer<Data> = await response.json();
    const retryAfter = error?.extensions?.upstream?.retryAfter ?? Number(response.headers.get('retry-after') ?? 0);
    const code = error?.extensions?.code ?? 'UNKNOWN';
    const failure = error && new GatewayError(code, error.message, retryAfter > 0 ? { retryAfter } : {});
    return { data, failure };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    // No answer came, or that of a proxy, in its own words.
    throw new GatewayError('GATEWAY_UNAVAILABLE', 'The gateway does not answer.', { cause });
  }
}
