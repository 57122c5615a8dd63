import {
  type GraphQLFieldResolver,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLTypeResolver,
  isInterfaceType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { isObject } from '../rest/values.ts';

/**
 * Gives the types of a schema their resolvers, which codegen has typed. Throws for a resolver that has no place in the
 * schema. graphql-tools can do this too, but loading it took a tenth of the startup time.
 */
export function attachResolvers(schema: GraphQLSchema, resolvers: object): void {
  for (const [name, given] of Object.entries<unknown>({ ...resolvers })) {
    const type = schema.getType(name);
    if (isScalarType(type) && isScalarType(given)) attachCoercion(type, given);
    else if (isInterfaceType(type) && isObject(given)) attachTypeResolver(type, given);
    else if (isObjectType(type) && isObject(given)) attachFields(type, given);
    else throw new Error(`${name} has resolvers, but the schema has no such type`);
  }
}

/** Gives a scalar its coercion. The scalar keeps the description that it has in the schema. */
function attachCoercion(type: GraphQLScalarType, given: GraphQLScalarType): void {
  const { description, specifiedByURL, astNode } = type;
  Object.assign(type, given, { description, specifiedByURL, astNode });
}

function attachTypeResolver(type: GraphQLInterfaceType, { __resolveType: resolve }: Members): void {
  if (isResolver(resolve)) type.resolveType = resolve;
}

function attachFields(type: GraphQLObjectType, resolvers: Members): void {
  const fields = type.getFields();
  for (const [name, given] of Object.entries(resolvers)) {
    const field = fields[name];
    if (field === undefined) throw new Error(`${type.name}.${name} has a resolver, but the schema has no such field`);
    const { resolve, subscribe } = isObject(given) ? given : { resolve: given, subscribe: undefined };
    if (isResolver(resolve)) field.resolve = resolve;
    if (isResolver(subscribe)) field.subscribe = subscribe;
  }
}

type Field = ReturnType<GraphQLObjectType['getFields']>[string];

/** Each field of the object types of a schema. */
export function* objectFields(schema: GraphQLSchema): Generator<Field> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    yield* Object.values(type.getFields());
  }
}

type Members = Readonly<Record<string, unknown>>;

type Resolver = GraphQLFieldResolver<unknown, unknown> & GraphQLTypeResolver<unknown, unknown>;

/** True for a function. Codegen has typed it as its place in the schema needs it. */
function isResolver(value: unknown): value is Resolver {
  return typeof value === 'function';
}
