import { type DocumentNode, GraphQLError, parse, type Token } from 'graphql';
import { type DocumentLimits, limitError } from './document-limits.ts';
import { RefusedDocument } from './refused-document.ts';
import { relocated, requestError } from './request-error.ts';

/**
 * The document that a text is, without the chain of tokens that graphql hangs on it: that holds every comment. Errors
 * still find their place. Throws a RefusedDocument where the text is no GraphQL, or beyond the limits.
 */
export function parseDocument(text: string, limits?: Pick<DocumentLimits, 'bytes' | 'tokens'>): DocumentNode {
  if (limits !== undefined) refuseLong(text, limits.bytes);
  try {
    const document = parse(text, { maxLexicalTokens: limits?.tokens });
    unchain(document.loc?.startToken);
    return document;
  } catch (error) {
    // The parser recurses, and overflows before it has read all tokens of what only nests.
    const tooMany = error instanceof RangeError || (error instanceof GraphQLError && error.message.includes('tokens'));
    if (tooMany && limits !== undefined) throw new RefusedDocument([limitError('tokens', limits.tokens, 'more')]);
    if (!(error instanceof GraphQLError)) throw error;
    const extensions = { code: 'GRAPHQL_PARSE_FAILED', http: { status: 400, spec: true } };
    throw new RefusedDocument([relocated(error, error.message, extensions)]);
  }
}

/** Counted before anything is parsed: the number of tokens says nothing about comments. */
function refuseLong(text: string, limit: number): void {
  // No text has fewer bytes than UTF-16 units, or more than three times as many.
  if (text.length * 3 <= limit) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return;
  const message = `The document exceeds a limit: at most ${limit} bytes are allowed, but it has ${bytes}.`;
  throw new RefusedDocument([requestError(message, { code: 'LIMIT_EXCEEDED', status: 400 })]);
}

function unchain(first: Token | undefined): void {
  let token: Token | null = first ?? null;
  while (token !== null) {
    const { next }: Token = token;
    Object.assign(token, { prev: null, next: null });
    token = next;
  }
}
