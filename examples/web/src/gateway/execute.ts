import type { TypedDocumentString } from '../generated/graphql.ts';

/** An operation that did not give everything it was asked for. `code` is one of the gateway's error codes. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a GraphQL server answers: https://graphql.github.io/graphql-over-http/ */
interface Answer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** The id of a document. What is read with it can be cached under it as well. */
export function idOf(document: { readonly __meta__?: Readonly<Record<string, unknown>> | undefined }): unknown {
  return document.__meta__?.['hash'];
}

/** Asks the gateway for a document by its id. Throws a GatewayError where anything of the answer is missing. */
export async function execute<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Result> {
  const { data, errors } = await send<Result>({ documentId: idOf(document), variables }, signal);
  const [error] = errors ?? [];
  if (error !== undefined) throw new GatewayError(error.extensions?.code ?? 'UNKNOWN', error.message);
  if (data === undefined || data === null) throw new GatewayError('UNKNOWN', 'The gateway answered without data.');
  return data;
}

async function send<Result>(params: object, signal: AbortSignal | undefined): Promise<Answer<Result>> {
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      body: JSON.stringify(params),
      signal: signal ?? null,
    });
    const answer: Answer<Result> = await response.json();
    return answer;
  } catch (cause) {
    if (signal?.aborted) throw cause;
    // Nobody answered, or a proxy did, in its own words.
    throw new GatewayError('GATEWAY_UNAVAILABLE', 'The gateway does not answer.', { cause });
  }
}
