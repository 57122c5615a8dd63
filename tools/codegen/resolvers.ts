import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptResolvers from '@graphql-codegen/typescript-resolvers';
import { buildASTSchema, parse } from 'graphql';
import { nounNames } from '../../src/rest/nouns.ts';

/** The parent that the resolvers of each type get, as `module#type`. The module is relative to the generated file. */
const mappers: Record<string, string> = {};
for (const type of ['Organization', 'User']) mappers[type] = `../records.ts#${type}Record`;
for (const type of nounNames) {
  mappers[type] = '../records.ts#RowRecord';
  mappers[`${type}Connection`] = '../connections.ts#ConnectionSource';
  mappers[`${type}Edge`] = '../connections.ts#EdgeSource';
}
for (const type of ['UpdatePluginSourcePayload', 'UpgradePluginPayload', 'CheckPluginForUpdatesPayload'])
  mappers[type] = '../records.ts#PluginActionSource';
for (const type of ['PluginSource', 'PluginActivity', 'EventValues']) mappers[type] = '../records.ts#ReportSource';
for (const type of ['PluginActivityEntry', 'PluginRepositoryEntry', 'EventValue'])
  mappers[type] = '../../rest/values.ts#JsonObject';
mappers['EventsCsvPage'] = '../records.ts#CsvPageSource';
mappers['EventRowsPage'] = '../records.ts#RowsPageSource';
mappers['EventsAdded'] = '../../live/listener.ts#TailMessage';

const config = {
  contextType: '../../context.ts#GatewayContext',
  mappers,
  scalars: { ID: 'string', DateTime: 'string', JSON: 'unknown', TimeZone: 'string', UUID: 'string' },
  strictScalars: true,
  // A TypeScript `enum` is code, which type stripping cannot run.
  enumsAsTypes: true,
  maybeValue: 'T | null | undefined',
  // A resolver of a list may return a promise for each item, or an Error for an item that failed.
  resolverTypeWrapperSignature: 'Promise<T | Error | null> | T',
  noSchemaStitching: true,
  useTypeImports: true,
};

/** The TypeScript source of the schema's types and of its resolver maps. `sdl` is the whole schema, extensions included. */
export async function resolversSource(sdl: string): Promise<string> {
  const schema = parse(sdl);
  return codegen({
    filename: 'resolvers.ts',
    schema,
    schemaAst: buildASTSchema(schema),
    documents: [],
    config,
    plugins: [{ typescript: {} }, { typescriptResolvers: {} }],
    pluginMap: { typescript, typescriptResolvers },
  });
}
