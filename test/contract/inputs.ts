import { getNamedType, isEnumType, isRequiredInputField, print, valueToLiteral } from 'graphql';
import { enumValues } from './columns.ts';
import { type Column, columnsOf, fieldNameOf, inputFieldOf, inputOf } from './document.ts';
import { globalId, organizationId } from './operation-table.ts';

/** A mutation whose body is made of its input. */
export interface Write {
  readonly mutation: string;
  readonly input: string;
  /** The schema of the OpenAPI document that has the columns of the body. */
  readonly request: string;
  /** The columns that mean nothing to this mutation: it has no field for them. */
  readonly without: readonly string[];
  /** The fields that address the object; never in the body. */
  readonly address: Readonly<Record<string, string>>;
  /** `METHOD target`. */
  readonly line: string;
}

const dashboard = { id: globalId('Dashboard', '1', '5') };
const plugins = `/api/organizations/${organizationId}/plugins/`;

/** Every mutation that takes the request fields of a noun; one that acts on something else has fields of its own. */
export const writes: readonly Write[] = [
  toWrite('createProject', 'ProjectRequest', {}, 'POST /api/projects/'),
  toWrite('updateProject', 'ProjectRequest', { id: '1' }, 'PATCH /api/projects/1/'),
  toWrite('createDashboard', 'DashboardRequest', { projectId: '1' }, 'POST /api/projects/1/dashboards/', [
    'deleted',
    'delete_insights',
  ]),
  toWrite('updateDashboard', 'DashboardRequest', dashboard, 'PATCH /api/projects/1/dashboards/5/', [
    'use_template',
    'use_dashboard',
  ]),
  toWrite('createPlugin', 'PluginRequest', { organizationId }, `POST ${plugins}`),
  toWrite('updatePlugin', 'PluginRequest', { id: '5', organizationId }, `PATCH ${plugins}5/`),
];

/** A value that a client gives for a field, and the value that goes upstream in its column. */
export interface Sample {
  readonly field: string;
  readonly given: unknown;
  readonly column: string;
  readonly sent: unknown;
}

/** Inputs for every column of a write: as many of each as it takes to give each enum each of its values. */
export function samplesOf({ input, request, without }: Write): Sample[][] {
  const columns = columnsOf(request).filter(({ name }) => !without.includes(name));
  return [0, 1, 2, 3].map((turn) =>
    columns.map((column) => ({
      field: fieldNameOf(column.name),
      column: column.name,
      ...sampleOf(input, column, turn),
    })),
  );
}

/** The fields of the body that an input takes, by what the SDL says. */
export function bodyFieldsOf({ input, address }: Write): string[] {
  // The contract has `url` in answers only; a plugin is installed from it all the same.
  const beside = new Set([...Object.keys(address), 'id', 'projectId', 'organizationId', 'extra', 'url']);
  return Object.values(inputOf(input).getFields())
    .filter((field) => !beside.has(field.name) && !isRequiredInputField(field))
    .map(({ name }) => name);
}

/** The operation of a write with its input in the text. */
export function literalQuery({ mutation, input, address }: Write, given: object): string {
  const literal = valueToLiteral({ ...address, ...given }, inputOf(input));
  if (literal === undefined) throw new Error(`no ${input}: ${JSON.stringify(given)}`);
  return `mutation { ${mutation}(input: ${print(literal)}) { __typename } }`;
}

/** The operation of a write with its input in the variable `input`. */
export function variableQuery({ mutation, input }: Write): string {
  return `mutation Write($input: ${input}!) { ${mutation}(input: $input) { __typename } }`;
}

function sampleOf(input: string, column: Column, turn: number): { given: unknown; sent: unknown } {
  const type = getNamedType(inputFieldOf(input, column.name).type);
  if (isEnumType(type)) {
    const values = column.values ?? [];
    const sent = values[turn % values.length];
    return { given: enumValues[type.name]?.find(([value]) => value === sent)?.[1], sent };
  }
  if (type.name === 'ID') {
    const given = turn % 2 === 0 ? '7' : globalId('Dashboard', '1', '7');
    return { given: input.includes('CreateProject') ? '7' : given, sent: 7 };
  }
  const same = plainSample(column, turn);
  return { given: same, sent: same };
}

function plainSample(column: Column, turn: number): unknown {
  const [type] = column.types;
  if (column.name === 'timezone') return ['Europe/Berlin', 'UTC', 'US/Pacific', 'GMT+0'][turn];
  if (type === 'string') return [`${column.name} text`, '', '"quoted" \\ ☃ \u{1F600}', ' '][turn];
  if (type === 'boolean') return turn % 2 === 0;
  if (type === 'integer') return [2000, 0, -1, 2_147_483_647][turn];
  if (type === 'array') return [['a', 'b'], [], [null], ['a', null]][turn];
  return [{ keep_case: { deepInside: [1, 'two', null, true, 0.5] } }, [], 'text', 7][turn];
}

function toWrite(
  mutation: string,
  request: string,
  address: Readonly<Record<string, string>>,
  line: string,
  without: readonly string[] = [],
): Write {
  const input = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
  return { mutation, input, request, without, address, line };
}
