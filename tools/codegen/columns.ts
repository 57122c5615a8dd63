import {
  buildASTSchema,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import { isRowType, restNameOf } from '../../src/graphql/field-mapping.ts';

/** The function of column-conversions.ts that converts the value of a column, by the type of the field. */
const converters: Readonly<Record<string, string>> = {
  ID: 'toId',
  String: 'toText',
  DateTime: 'toDateTime',
  TimeZone: 'onlyText',
  UUID: 'onlyText',
  Int: 'onlyInt',
  Boolean: 'onlyBoolean',
  JSON: 'anything',
  User: 'toUser',
};

/**
 * The TypeScript source of a getter for each field of a row that can be a column. `sdl` is the whole schema. Each is a
 * function of its own, because an engine knows the shapes of objects by the place in the code that reads them.
 */
export function columnsSource(sdl: string): string {
  const types = Object.values(buildASTSchema(parse(sdl)).getTypeMap()).filter(isObjectType);
  const members = types
    .filter(({ name }) => isRowType(name))
    .map((type) => `  ${type.name}: {\n${columnsOf(type).map(getterSource).join('')}  },\n`);
  const imported = ['absent', ...new Set(Object.values(converters)), 'listOf', 'type WithRow'].toSorted();
  return [
    `import { ${imported.join(', ')} } from '../column-conversions.ts';`,
    "import { enumNames } from '../enums.ts';",
    '',
    '/** The getter of each field of a row that is a column. */',
    `export const columnGetters = {\n${members.join('')}} as const;`,
  ].join('\n');
}

/** The fields that may be columns. The `id` of a node holds more than a column. */
function columnsOf(type: GraphQLObjectType): readonly GraphQLField<unknown, unknown>[] {
  const isNode = type.getInterfaces().length > 0;
  return Object.values(type.getFields()).filter(({ name }) => !isNode || (name !== 'id' && name !== 'upstreamId'));
}

function getterSource(field: GraphQLField<unknown, unknown>): string {
  const convert = converterOf(field.type);
  if (convert === undefined || field.args.length > 0) return '';
  return [
    `    ${field.name}(this: WithRow): unknown {\n`,
    `      const value = this.row['${restNameOf(field)}'];\n`,
    `      return value === undefined || value === null ? absent(this, value) : ${convert('value')};\n`,
    '    },\n',
  ].join('');
}

/** Makes source that converts the value of the expression `value`; undefined if no column has such a type. */
function converterOf(type: GraphQLOutputType): ((value: string) => string) | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = converterOf(nullable.ofType);
    return item && ((value) => `listOf(${value}, (item) => ${item('item')})`);
  }
  const { name } = getNamedType(type);
  if (isEnumType(nullable)) return (value) => `enumNames.${name}(${value})`;
  const convert = converters[name];
  return convert === undefined ? undefined : (value) => `${convert}(${value})`;
}
