import type { GraphQLError } from 'graphql';

/** A document that is refused; each error says why. */
export class RefusedDocument extends Error {
  override readonly name = 'RefusedDocument';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('the document is refused');
    this.errors = errors;
  }
}
