import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildASTSchema,
  coerceInputLiteral,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLArgument,
  GraphQLDeferDirective,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  parse,
} from 'graphql';
import { attachResolvers, objectFields } from './graphql/attach-resolvers.ts';
import { attachColumns } from './graphql/columns.ts';
import { acceptExactIds } from './graphql/scalars.ts';
import { attachParts } from './look-ahead/early-records.ts';
import { attachStarted } from './look-ahead/read-ahead.ts';
import { attachRefusals } from './look-ahead/refused-roots.ts';
import type { Schemas } from './operation/execute.ts';
import { resolvers } from './resolvers/resolvers.ts';

const folder = join(import.meta.dirname, '../schema');

let publicSchema: GraphQLSchema | undefined;

let schemaWithoutSubscriptions: GraphQLSchema | undefined;

/**
 * The public schema with its resolvers, with subscriptions if `live` is true. All gateways of a process share it, so it
 * must not be changed. Throws if a field has neither a resolver nor a REST column.
 */
export function createSchema(live = true): GraphQLSchema {
  publicSchema ??= buildSchema();
  if (live) return publicSchema;
  schemaWithoutSubscriptions ??= withoutSubscriptions(publicSchema);
  return schemaWithoutSubscriptions;
}

/** The schema without subscriptions and without the types that their fields return. */
function withoutSubscriptions(schema: GraphQLSchema): GraphQLSchema {
  const { subscription, types, ...config } = schema.toConfig();
  const root = Object.values(subscription?.getFields() ?? {});
  const answers = new Set<unknown>([subscription, ...root.map(({ type }) => getNamedType(type))]);
  return new GraphQLSchema({ ...config, types: types.filter((type) => !answers.has(type)) });
}

function buildSchema(): GraphQLSchema {
  definitions ??= parseSdl();
  // Validation is skipped here, because it takes 30 ms. Tests check that the schema is valid.
  const schema = buildASTSchema(definitions, { assumeValid: true });
  // Fields of a row without a resolver read its columns. The resolvers of relations and of root fields are then wrapped: a
  // relation answers what was started for it before its row was read, and a root field is refused if no call can succeed.
  attachResolvers(schema, resolvers);
  attachColumns(schema);
  attachStarted(schema);
  attachRefusals(schema);
  acceptExactIds();
  return schema;
}

/** All schemas of a process are built from these. They lack the directives that map fields to the REST API. */
let definitions: DocumentNode | undefined;

function parseSdl(): DocumentNode {
  const sdl = readdirSync(folder)
    .filter((name) => name.endsWith('.graphql'))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const document = parse(sdl.join('\n'), { noLocation: true });
  const isInternal = (definition: DefinitionNode): boolean =>
    definition.kind === Kind.DIRECTIVE_DEFINITION && internalDirectives.has(definition.name.value);
  return { ...document, definitions: document.definitions.filter((definition) => !isInternal(definition)) };
}

const internalDirectives: ReadonlySet<string> = new Set(['column', 'rest']);

/**
 * Makes the schemas that operations run on. Those for compiled operations and for answers in parts are made once an
 * operation needs them. `incremental` says if answers may come in parts.
 */
export function createSchemas(schema: GraphQLSchema, incremental = false): Schemas {
  return {
    schema,
    get compilerSchema() {
      return createCompilerSchema();
    },
    incremental: incremental
      ? {
          schema: withDefer(schema),
          get partsSchema() {
            return createPartsSchema();
          },
        }
      : undefined,
  };
}

/** The schema that clients may read, with `@defer` if there are answers in parts. */
export function createReadableSchema(incremental: boolean): GraphQLSchema {
  return incremental ? withDefer(createSchema()) : createSchema();
}

/** The schema with `@defer`. graphql's `execute`, which makes whole answers, does not accept such a schema. */
function withDefer(schema: GraphQLSchema): GraphQLSchema {
  return new GraphQLSchema({ ...schema.toConfig(), directives: [...schema.getDirectives(), GraphQLDeferDirective] });
}

let partsSchema: GraphQLSchema | undefined;

/** The schema for operations that are answered in parts, made once for a process. */
function createPartsSchema(): GraphQLSchema {
  if (partsSchema !== undefined) return partsSchema;
  const schema = buildSchema();
  attachParts(schema);
  partsSchema = withDefer(schema);
  return partsSchema;
}

let compilerSchema: GraphQLSchema | undefined;

/** The schema for compiled operations, made once for a process. It does not serve validation or introspection. */
export function createCompilerSchema(): GraphQLSchema {
  compilerSchema ??= toCompilerSchema(buildSchema());
  return compilerSchema;
}

/**
 * Changes a schema so that compiled operations can run on it. Values of the gateway's own scalars then pass unchanged,
 * because they all come from columns, whose values have already been checked. Defaults of arguments are put where
 * graphql-jit looks for them.
 */
export function toCompilerSchema(schema: GraphQLSchema): GraphQLSchema {
  for (const field of objectFields(schema)) {
    field.type = passingOn(field.type);
    field.args.forEach(spellOutDefault);
  }
  return schema;
}

/** Adds the coerced default of an argument, which graphql-jit needs. The SDL only gives a literal. */
function spellOutDefault(argument: GraphQLArgument): void {
  const literal = argument.default?.literal;
  if (literal !== undefined) argument.default = { value: coerceInputLiteral(literal, argument.type) };
}

function passingOn(type: GraphQLOutputType): GraphQLOutputType {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return sameNullability(type, new GraphQLList(passingOn(nullable.ofType)));
  return isScalarType(nullable) && !isSpecifiedScalarType(nullable) ? sameNullability(type, GraphQLString) : type;
}

function sameNullability(
  type: GraphQLOutputType,
  plain: GraphQLScalarType | GraphQLList<GraphQLOutputType>,
): GraphQLOutputType {
  return isNonNullType(type) ? new GraphQLNonNull(plain) : plain;
}
