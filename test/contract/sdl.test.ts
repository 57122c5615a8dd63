import {
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  Kind,
} from 'graphql';
import { expect, test } from 'vitest';
import { sdl, sdlText } from './document.ts';

const types = Object.values(sdl.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);

test('every directive, type, field, argument, input field and enum value is described', () => {
  const directives = sdl.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  const undescribed = [...types.flatMap(partsOf), ...directives.map(({ name, description }) => part(name, description))]
    .filter(({ description }) => !description?.trim())
    .map(({ name }) => name);
  expect(undescribed).toEqual([]);
});

test('`@column` is given only if the snake_case of the name is not the column', () => {
  const fields = types.flatMap((type) => (isObjectType(type) || isInputObjectType(type) ? valuesOf(type) : []));
  const idle = fields.filter((field) => argumentOf(field, 'column', 'name') === snakeCase(field.name));
  expect(idle.filter((field) => argumentOf(field, 'rest', 'operation') === undefined).map(({ name }) => name)).toEqual([
    // A relation beside `organizationId`, which has the same column.
    'organization',
  ]);
});

test('every field is nullable but ids, what is at hand with its parent, and what a write answers in one', () => {
  const required = types
    .filter((type) => isObjectType(type) && !/(Edge|Connection|PageInfo)$/.test(type.name))
    .flatMap((type) => fieldsOf(type.name).map((field) => ({ name: `${type.name}.${field.name}`, type: field.type })))
    .filter(({ type, name }) => isNonNullType(type) && !/\.(id|upstreamId)$/.test(name));
  expect(required.map(({ name }) => name).toSorted()).toEqual([
    'CreateDashboardFromTemplatePayload.dashboard',
    'CreateDashboardPayload.dashboard',
    'CreatePluginPayload.plugin',
    'CreateProjectPayload.project',
    'EventRowsPage.hasNextPage',
    'EventRowsPage.rows',
    'EventValue.body',
    'EventValues.body',
    'EventsAdded.cursor',
    'EventsAdded.gap',
    'EventsAdded.nodes',
    'EventsCsvPage.csv',
    'EventsCsvPage.hasNextPage',
    'MoveDashboardTilePayload.dashboard',
    'PluginActivity.body',
    'PluginActivity.hasNextPage',
    'PluginActivityEntry.body',
    'PluginFile.name',
    'PluginFile.text',
    'PluginRepositoryEntry.body',
    'PluginSource.body',
    'Query.nodes',
    'RestoreDashboardPayload.dashboard',
    'Subscription.eventsAdded',
    'UpdateDashboardPayload.dashboard',
    'UpdatePluginPayload.plugin',
    'UpdateProjectPayload.project',
  ]);
});

test('arguments have no default if they page, and are non-null if they have one', () => {
  const args = types.flatMap((type) => (isObjectType(type) ? fieldsOf(type.name).flatMap((field) => field.args) : []));
  const paging = args.filter(({ name }) => ['first', 'after', 'last', 'before'].includes(name));
  expect(paging.length).toBeGreaterThan(0);
  for (const { type, default: value } of paging) expect([isNonNullType(type), value]).toEqual([false, undefined]);
  for (const { type, default: value } of args) expect(value === undefined || isNonNullType(type)).toBe(true);
});

type Described = { readonly name: string; readonly description: string | null | undefined };
type Annotated = {
  readonly name: string;
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
};

function part(name: string, description: string | null | undefined): Described {
  return { name, description };
}

/** A type and everything in it that GraphiQL shows a description of. */
function partsOf(type: GraphQLNamedType): Described[] {
  const inside = isEnumType(type) ? type.getValues() : valuesOf(type);
  const args = isObjectType(type) || isInterfaceType(type) ? fieldsOf(type.name) : [];
  return [
    part(type.name, type.description),
    ...inside.map(({ name, description }) => part(`${type.name}.${name}`, description)),
    ...args.flatMap((field) =>
      field.args.map(({ name, description }) => part(`${type.name}.${field.name}(${name})`, description)),
    ),
  ];
}

function valuesOf(type: GraphQLNamedType): (GraphQLField<unknown, unknown> | GraphQLInputField)[] {
  if (isInputObjectType(type)) return Object.values(type.getFields());
  return isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
}

function fieldsOf(name: string): GraphQLField<unknown, unknown>[] {
  const type = sdl.getType(name);
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${name} has no fields`);
  return Object.values(type.getFields());
}

function argumentOf(field: Annotated, directive: string, argument: string): string | undefined {
  const node = field.astNode?.directives?.find(({ name }) => name.value === directive);
  const value = node?.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** V8 keeps names that are cut out of other text in two bytes a character, and `JSON.stringify` writes such keys slowly. */
test('the SDL holds no character beyond Latin-1', () => {
  expect(sdlText.match(/[\u0100-\uffff]/g)).toBeNull();
});
