import {
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { conditionsOf } from '../look-ahead/operation-trees.ts';
import { type NodeType, nouns } from '../rest/nouns.ts';
import { current } from '../rest/paths.ts';
import { isObject } from '../rest/values.ts';
import { type JsonSchema, orNull } from './json-schema.ts';
import type { ToolOperation } from './tool-cost.ts';
import { type IdType, idTypeOf, isOwner, mostItems, type VariableUse, type VariableUses } from './variable-uses.ts';

/**
 * The schema of the arguments of a tool: the variables of its operation. The gateway runs the tool with all arguments
 * that fit the schema, unless they have a fault that no schema can express. It refuses such arguments before any REST
 * call. These faults are a damaged cursor or global id, a day that does not exist, an unknown time zone, a malformed
 * name of a file, `first` beside `last`, an id without its owner, a member of `extra` that has a field of its own, and
 * too high a cost.
 */
export function inputSchemaOf(tool: ToolOperation, uses: VariableUses): JsonSchema {
  const { variableDefinitions: definitions = [] } = tool.operation;
  const properties = definitions.map((definition): [string, JsonSchema] => {
    const name = definition.variable.name.value;
    return [name, variableSchema(tool, definition, uses.get(name) ?? [])];
  });
  const required = definitions.filter(isNeeded).map(({ variable }) => variable.name.value);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function isNeeded({ type, defaultValue }: VariableDefinitionNode): boolean {
  return type.kind === 'NonNullType' && defaultValue === undefined;
}

function variableSchema(
  tool: ToolOperation,
  definition: VariableDefinitionNode,
  uses: readonly VariableUse[],
): JsonSchema {
  const { schema, maxPageSize } = tool;
  const type = typeFromAST(schema, definition.type);
  if (!isInputType(type)) return {};
  const [first, ...others] = new Set(uses.map((one) => one.idType));
  const idType = others.length === 0 ? first : 'any';
  const isRequired = uses.some((one) => one.isRequired) || conditionsOf(tool).includes(definition.variable.name.value);
  const takesNull = !isNonNullType(type) && !isRequired;
  const inner = isNonNullType(type) ? type.ofType : type;
  const bounded = boundedBy(
    valueSchema(inner, idType, { mustBeGlobal: uses.some(({ mustBeGlobal }) => mustBeGlobal) }),
    uses,
    maxPageSize,
  );
  return {
    ...(takesNull ? orNull(bounded) : bounded),
    ...describedBy(bounded, definition.description?.value ?? generalOf(uses[0]?.place, idType)),
    ...defaultOf(schema, definition),
  };
}

/** A description: the special form of a value, if it has one, and then the text from the operation or the schema. */
function describedBy({ description: form }: JsonSchema, said: string | undefined): Pick<JsonSchema, 'description'> {
  const sentences = [form, said === undefined ? undefined : oneLine(said)].filter((part) => part !== undefined);
  return sentences.length === 0 ? {} : { description: sentences.join('. ') };
}

/**
 * The description of the argument or input field that takes a variable, from the GraphQL schema. Undefined for an id,
 * whose description would only repeat the form of the id.
 */
function generalOf(place: VariableUse['place'] | undefined, idType: IdType): string | undefined {
  return idType === undefined ? (place?.description ?? undefined) : undefined;
}

function defaultOf(schema: GraphQLSchema, definition: VariableDefinitionNode): Pick<JsonSchema, 'default'> {
  if (definition.defaultValue === undefined) return {};
  const { variableValues } = getVariableValues(schema, [definition], {});
  const value = variableValues?.coerced[definition.variable.name.value];
  return value === undefined || value === null ? {} : { default: value };
}

/** A schema with the bounds of all places in which a value is used. The tightest bounds hold. */
function boundedBy(value: JsonSchema, uses: readonly VariableUse[], maxPageSize: number): JsonSchema {
  const pages = uses.flatMap(({ page = [] }) => page);
  if (pages.length > 0) return { ...value, minimum: pages.includes('table') ? 1 : 0, maximum: maxPageSize };
  const most = uses.flatMap(({ maxItems = [] }) => maxItems);
  return most.length === 0 ? value : { ...value, maxItems: Math.min(...most) };
}

interface IdOptions {
  /** True if the id itself must name the owner. */
  readonly mustBeGlobal?: boolean;
  /** The field beside the id that may name the owner instead. */
  readonly owner?: string | undefined;
}

/** The schema of a value that is not null. `id` is the kind of object that the value names, if it is an id. */
function valueSchema(type: GraphQLInputType, id: IdType, options: IdOptions = {}): JsonSchema {
  if (isNonNullType(type)) return valueSchema(type.ofType, id, options);
  if (isListType(type)) {
    const item = valueSchema(type.ofType, id, options);
    return { type: 'array', items: isNonNullType(type.ofType) ? item : orNull(item) };
  }
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    return { type: 'string', enum: names.filter((name) => name !== 'UNKNOWN') };
  }
  if (!isInputObjectType(type)) return type.name === 'ID' ? idSchema(id ?? 'any', options) : (scalars[type.name] ?? {});
  const fields = Object.values(type.getFields());
  const owner = fields.find(({ name }) => isOwner(name))?.name;
  const properties = fields.map((field): [string, JsonSchema] => {
    const idType = idTypeOf(field, type.name);
    const value = field.name === 'extra' ? ({ type: 'object' } as const) : valueSchema(field.type, idType, { owner });
    const most = mostItems[field.name];
    const bounded = most === undefined ? value : { ...value, maxItems: most };
    const allowed = isNonNullType(field.type) ? bounded : orNull(bounded);
    return [field.name, { ...allowed, ...describedBy(bounded, generalOf(field, idType)) }];
  });
  const required = fields.filter(({ type: inner, default: value }) => isNonNullType(inner) && value === undefined);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    additionalProperties: false,
  };
}

const dateTime =
  '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$';

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/**
 * The JSON schema of each scalar. The gateway accepts every value that fits, except a day that does not exist, an
 * unknown time zone, and half a surrogate pair.
 */
const scalars: Readonly<Record<string, JsonSchema>> = {
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time', pattern: dateTime, description: 'such as 2024-05-01T10:00:00Z' },
  Float: { type: 'number' },
  Int: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  JSON: {},
  String: { type: 'string' },
  TimeZone: {
    type: 'string',
    pattern: '^[A-Za-z][\\w+\\/\\-]{1,63}$',
    description: 'an IANA time zone such as Europe/Berlin',
  },
  UUID: { type: 'string', format: 'uuid', pattern: `^${uuid}$`, description: 'a UUID' },
};

const forms = {
  integer: '(?:0|-?[1-9]\\d{0,18})',
  uuid,
  // A text that can be one segment of a path. It does not begin with a capital from Q to W, because global ids do.
  text: '[a-zA-PX-Z0-9][\\w-]{0,198}',
} as const;

function idSchema(idType: Exclude<IdType, undefined>, { mustBeGlobal = false, owner }: IdOptions): JsonSchema {
  if (idType === 'any')
    return { type: 'string', pattern: '^[Q-W][\\w-]{7,2199}$', description: 'a global id, the `id` of an object' };
  if (idType === 'tile')
    return { type: 'string', pattern: '^(?:0|[1-9]\\d{0,18})$', description: 'the id of a tile, an integer' };
  const article = /^[AEIOU]/.test(idType) ? 'an' : 'a';
  const global = `${globalPrefix(idType)}[\\w-]{2,2180}`;
  if (mustBeGlobal && idType !== 'Organization' && nouns[idType].owner !== undefined)
    return { type: 'string', pattern: `^${global}$`, description: `the global id of ${article} ${idType}, its \`id\`` };
  const form = idType === 'Organization' ? 'uuid' : nouns[idType].ids;
  const mayBeCurrent = idType === 'Organization' || idType === 'Project';
  const texts = [forms[form], ...(mayBeCurrent ? [current] : []), global];
  const beside = mayBeCurrent || owner === undefined ? '' : ` beside \`${owner}\``;
  const words = [
    `${{ integer: 'an integer', uuid: 'a UUID', text: 'a text' }[form]}${beside}`,
    ...(mayBeCurrent ? [current] : []),
    'or its global id',
  ];
  const description = `the id of ${article} ${idType}: ${words.join(', ')}`;
  return { type: 'string', pattern: `^(?:${texts.join('|')})$`, description };
}

/**
 * The prefix of all global ids of a type. It is fixed because base64url writes every three bytes as four characters.
 */
function globalPrefix(type: NodeType): string {
  const text = `${type}:`;
  return Buffer.from(text.slice(0, text.length - (text.length % 3))).toString('base64url');
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Converts ids that a client sent as numbers to texts. Ids within lists and objects stay as they were sent. */
export function withTextIds(values: unknown, schema: JsonSchema): unknown {
  if (!isObject(values)) return values;
  const entries = Object.entries(values).map(([name, value]): [string, unknown] => {
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    const pattern = known ? schema.properties[name]?.pattern : undefined;
    return [name, pattern !== undefined && Number.isSafeInteger(value) ? String(value) : value];
  });
  return Object.fromEntries(entries);
}
