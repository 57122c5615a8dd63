import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';

/** How an error of the request itself is answered over HTTP. */
interface RequestErrorOptions {
  readonly code: string;
  readonly status: number;
  /**
   * Whether GraphQL over HTTP wants status 200 for it where the client accepts `application/json` (§6.4.1): so for
   * documents that do not parse or validate, since older clients take any other status for a failed transport.
   */
  readonly lenient?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** What else a client may want to read, beside the message. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An error of the request itself: nothing was executed. `extensions.http` never reaches the client. */
export function requestError(
  message: string,
  { code, status, lenient = false, headers, details }: RequestErrorOptions,
): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code, ...details, http: { status, spec: lenient, ...(headers !== undefined && { headers }) } },
  });
}

/** The same error, where it was, with another message and other extensions. */
export function relocated(error: GraphQLError, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  const { nodes, source, positions, path } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

/** The HTTP side of an error, as `requestError` and Yoga attach it. */
export interface HttpExtension {
  readonly status?: number;
  /** Whether it is `lenient`, see above: the name is Yoga's. */
  readonly spec?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an error says about the HTTP response; undefined where it says nothing. */
export function httpExtensionOf({ extensions }: GraphQLError): HttpExtension | undefined {
  const http = extensions['http'];
  return typeof http === 'object' ? http : undefined;
}
