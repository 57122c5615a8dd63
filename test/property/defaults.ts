import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLSchema } from 'graphql';

const typeDefs = `
  "Compiled operations take all variables as this type."
  scalar JSON

  enum Size { SMALL LARGE }

  input Inner { size: Size! = LARGE, count: Int = 3, names: [String!]! = ["a", "b"] }

  input Outer { inner: Inner = { count: 4 }, inners: [Inner!] = [{}, { size: SMALL }], text: String! = "outer" }

  type Query {
    plain(count: Int = 1, size: Size = SMALL, ids: [ID!]! = ["1", 2], text: String! = "plain", none: Int = null): String
    nested(outer: Outer! = { text: "given" }, inner: Inner = {}): String
    required(count: Int! = 5, id: ID!): String
  }

  type Mutation {
    change(outer: Outer = {}, count: Int! = 6): String
  }
`;

const echo = (_parent: unknown, args: object): string => JSON.stringify(args);

/** A schema full of defaults, which the gateway's own has none of; its fields answer the arguments that they get. */
export function schemaOfDefaults(): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs,
    resolvers: {
      Size: { SMALL: 1, LARGE: { inches: 30 } },
      Query: { plain: echo, nested: echo, required: echo },
      Mutation: { change: echo },
    },
  });
}
