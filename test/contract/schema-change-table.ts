import type { SchemaChange } from 'graphql';

/** A schema in which of everything that can change there is one that documents use and one that none does. */
export const base = `
  type Query {
    one(id: ID!, size: Int, page: Int! = 10, filter: Filter, colours: [Colour!]): Thing
    node(id: ID!): Node
    any: Any
    stamp: Stamp
    spare(size: Int, power: Power, page: Int! = 5): Spare
  }
  type Mutation { change(input: Change!): Thing }
  interface Node { id: ID! }
  interface Loose { id: ID! }
  type Thing implements Node { id: ID!  name: String!  colour: Colour  left: String!  things(first: Int, last: Int): [Thing] }
  type Spare implements Node & Loose { id: ID! }
  type Part { id: ID! }
  union Any = Thing | Spare | Part
  enum Colour { RED GREEN BLUE }
  enum Shade { DARK LIGHT }
  enum Power { ON OFF }
  input Filter { name: String  colour: Colour  size: Int = 3  inner: Filter  by: [Int!]  deep: Int! = 1 }
  input Change { id: ID!  shade: Shade }
  input Extra { size: Int  width: Int! = 1 }
  scalar Stamp
  scalar Other
  directive @cost(weight: Int, unit: String) repeatable on FIELD | QUERY | FRAGMENT_SPREAD
  directive @once(weight: Int! = 1) on FIELD
  directive @spare(weight: Int) repeatable on FIELD
`;

/** The operations of clients, each with one way to use something. */
export const documents = {
  fields: '{ one(id: 1) { name things { colour } } }',
  fragment: 'query F { one(id: 1) { ...T } } fragment T on Thing { name }',
  arguments: '{ one(id: 1, size: 2, page: 1) { things(first: 1) { id } } }',
  literal: '{ one(id: 1, filter: { inner: { colour: RED, by: 1 } }) { id } }',
  variable: 'query V($filter: Filter) { one(id: 1, filter: $filter) { id } }',
  inside: 'query I($name: String) { one(id: 1, filter: { name: $name }) { id } }',
  byDefault: 'query D($c: [Colour!] = [GREEN]) { one(id: 1, colours: $c) { id } }',
  listed: '{ one(id: 1, colours: BLUE) { id } }',
  mutation: 'mutation M($input: Change!) { change(input: $input) { id } }',
  node: 'query N($id: ID!) { node(id: $id) { ... on Thing { colour } } }',
  nodeSpread: 'query S($id: ID!) { node(id: $id) { ...T } } fragment T on Thing { colour }',
  nodeItself: '{ node(id: 1) { id } }',
  any: '{ any { ... on Thing { colour } } }',
  directive: '{ one(id: 1) @cost(weight: 1) { id } }',
  directiveTwice: '{ one(id: 1) @cost(weight: 1) @cost(weight: 2) { id } }',
  directiveOnQuery: 'query Q @cost { stamp }',
  directiveByDefault: '{ one(id: 1) { id @once } }',
} as const;

/** Each change as edits of the base (`from => to`, apart from each other by `;`), and the documents that it breaks. */
export const table: readonly (readonly [type: SchemaChange['type'], edits: string, broken: string])[] = [
  ['TYPE_REMOVED', 'scalar Stamp => ; stamp: Stamp =>', 'directiveOnQuery'],
  [
    'TYPE_REMOVED',
    'input Change { id: ID!  shade: Shade } => ; type Mutation { change(input: Change!): Thing } =>',
    'mutation',
  ],
  ['TYPE_REMOVED', 'scalar Other =>', ''],
  ['TYPE_CHANGED_KIND', 'scalar Stamp => enum Stamp { NOW }', 'directiveOnQuery'],
  ['TYPE_CHANGED_KIND', 'scalar Other => enum Other { NOW }', ''],
  ['TYPE_REMOVED_FROM_UNION', 'Thing | Spare | Part => Spare | Part', 'any'],
  ['TYPE_REMOVED_FROM_UNION', 'Thing | Spare | Part => Thing | Spare', ''],
  ['VALUE_REMOVED_FROM_ENUM', 'RED GREEN BLUE => GREEN BLUE', 'literal variable byDefault'],
  ['VALUE_REMOVED_FROM_ENUM', 'RED GREEN BLUE => RED BLUE', 'variable byDefault'],
  ['VALUE_REMOVED_FROM_ENUM', 'RED GREEN BLUE => RED GREEN', 'variable byDefault listed'],
  ['VALUE_REMOVED_FROM_ENUM', 'DARK LIGHT => DARK', 'mutation'],
  ['VALUE_REMOVED_FROM_ENUM', 'ON OFF => ON', ''],
  ['REQUIRED_INPUT_FIELD_ADDED', 'input Filter { => input Filter { must: Int!', 'literal variable inside'],
  ['REQUIRED_INPUT_FIELD_ADDED', 'input Extra { => input Extra { must: Int!', ''],
  ['IMPLEMENTED_INTERFACE_REMOVED', 'Thing implements Node => Thing', 'node nodeSpread nodeItself'],
  ['IMPLEMENTED_INTERFACE_REMOVED', 'implements Node & Loose => implements Node', ''],
  ['FIELD_REMOVED', 'name: String! =>', 'fields fragment'],
  ['FIELD_REMOVED', 'left: String! =>', ''],
  ['FIELD_REMOVED', '{ name: String => {', 'variable inside'],
  ['FIELD_REMOVED', 'inner: Filter =>', 'literal variable'],
  ['FIELD_REMOVED', 'input Extra { size: Int => input Extra {', ''],
  ['FIELD_CHANGED_KIND', 'name: String! => name: String', 'fields fragment'],
  ['FIELD_CHANGED_KIND', 'left: String! => left: Int', ''],
  ['FIELD_CHANGED_KIND', 'by: [Int!] => by: [String!]', 'literal variable'],
  // A document that does not name the field is broken, too.
  ['FIELD_CHANGED_KIND', 'by: [Int!] => by: [Int!]!', 'literal variable inside'],
  ['REQUIRED_ARG_ADDED', 'things( => things(must: Int!,', 'fields arguments'],
  ['REQUIRED_ARG_ADDED', 'spare(size => spare(must: Int!, size', ''],
  ['ARG_REMOVED', 'first: Int,  =>', 'arguments'],
  ['ARG_REMOVED', ', last: Int =>', ''],
  ['ARG_CHANGED_KIND', 'first: Int => first: String', 'arguments'],
  ['ARG_CHANGED_KIND', 'first: Int => first: Int!', 'fields arguments'],
  ['ARG_CHANGED_KIND', 'last: Int => last: String', ''],
  [
    'DIRECTIVE_REMOVED',
    'directive @cost(weight: Int, unit: String) repeatable on FIELD | QUERY | FRAGMENT_SPREAD =>',
    'directive directiveTwice directiveOnQuery',
  ],
  ['DIRECTIVE_REMOVED', 'directive @spare(weight: Int) repeatable on FIELD =>', ''],
  ['DIRECTIVE_ARG_REMOVED', 'weight: Int, unit => unit', 'directive directiveTwice'],
  ['DIRECTIVE_ARG_REMOVED', ', unit: String =>', ''],
  ['REQUIRED_DIRECTIVE_ARG_ADDED', '@cost( => @cost(must: Int!,', 'directive directiveTwice directiveOnQuery'],
  ['REQUIRED_DIRECTIVE_ARG_ADDED', '@spare( => @spare(must: Int!,', ''],
  ['DIRECTIVE_REPEATABLE_REMOVED', 'unit: String) repeatable => unit: String)', 'directiveTwice'],
  ['DIRECTIVE_REPEATABLE_REMOVED', '@spare(weight: Int) repeatable => @spare(weight: Int)', ''],
  ['DIRECTIVE_LOCATION_REMOVED', 'FIELD | QUERY => FIELD', 'directiveOnQuery'],
  ['DIRECTIVE_LOCATION_REMOVED', ' | FRAGMENT_SPREAD =>', ''],
  // graphql calls it dangerous only, but who leaves the argument out is refused.
  [
    'ARG_DEFAULT_VALUE_CHANGE',
    'page: Int! = 10 => page: Int!',
    'fields fragment literal variable inside byDefault listed directive directiveTwice directiveByDefault',
  ],
  ['ARG_DEFAULT_VALUE_CHANGE', '@once(weight: Int! = 1) => @once(weight: Int!)', 'directiveByDefault'],
  ['INPUT_FIELD_DEFAULT_VALUE_CHANGE', 'deep: Int! = 1 => deep: Int!', 'literal variable inside'],
  ['INPUT_FIELD_DEFAULT_VALUE_CHANGE', 'width: Int! = 1 => width: Int!', ''],
  ['VALUE_ADDED_TO_ENUM', 'RED GREEN => RED WHITE GREEN', ''],
  ['TYPE_ADDED_TO_UNION', 'Any =  => Any = Mutation |', ''],
  ['OPTIONAL_INPUT_FIELD_ADDED', 'input Filter { => input Filter { more: Int', ''],
  ['OPTIONAL_ARG_ADDED', 'things( => things(more: Int,', ''],
  ['IMPLEMENTED_INTERFACE_ADDED', 'Thing implements Node => Thing implements Node & Loose', ''],
  ['ARG_DEFAULT_VALUE_CHANGE', 'page: Int! = 10 => page: Int! = 20', ''],
  ['INPUT_FIELD_DEFAULT_VALUE_CHANGE', 'size: Int = 3 => size: Int = 4', ''],
  ['DESCRIPTION_CHANGED', 'name: String! => "What it is called." name: String!', ''],
  ['TYPE_ADDED', 'scalar Other => scalar Other scalar New', ''],
  ['DIRECTIVE_ADDED', 'scalar Other => scalar Other directive @new on FIELD', ''],
  ['FIELD_ADDED', 'name: String! => name: String! more: Int', ''],
  ['DIRECTIVE_REPEATABLE_ADDED', '@once(weight: Int! = 1) => @once(weight: Int! = 1) repeatable', ''],
  ['DIRECTIVE_LOCATION_ADDED', 'FIELD | QUERY => FIELD | QUERY | MUTATION', ''],
  ['OPTIONAL_DIRECTIVE_ARG_ADDED', '@cost( => @cost(more: Int,', ''],
  ['FIELD_CHANGED_KIND_SAFE', 'colour: Colour  left => colour: Colour!  left', ''],
  ['ARG_CHANGED_KIND_SAFE', 'node(id: ID!) => node(id: ID)', ''],
  ['ARG_DEFAULT_VALUE_ADDED', 'first: Int => first: Int = 3', ''],
  ['INPUT_FIELD_DEFAULT_VALUE_ADDED', 'input Extra { size: Int => input Extra { size: Int = 1', ''],
];
