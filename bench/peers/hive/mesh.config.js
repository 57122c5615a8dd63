/**
 * The supergraph that GraphQL Mesh composes: the API's own OpenAPI document, and the relations between its types, which
 * such a document does not tell.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';

/** A field whose value is another operation of the document; `sources` maps its arguments to columns of the object. */
function relation(field, type, operation, sources) {
  const selection = [...new Set(Object.values(sources))].join(' ');
  const values = Object.entries(sources).map(([name, column]) => `${name}: "{root.${column}}"`);
  return `${field}: ${type} @resolveTo(sourceName: "api", sourceTypeName: "Query", sourceFieldName: "${operation}",
    requiredSelectionSet: "{ ${selection} }", sourceArgs: { ${values.join(', ')} })`;
}

/** The same with arguments of its own, which are the operation's too. */
function withArguments(parameters, [field, ...rest]) {
  const names = [...parameters.matchAll(/(\w+):/g)].map(([, name]) => `${name}: "{args.${name}}", `);
  return relation(`${field}(${parameters})`, ...rest).replace('sourceArgs: {', `sourceArgs: { ${names.join('')}`);
}

const window = 'limit: Int, offset: Int';
const relations = [
  withArguments(window, ['dashboards', 'DashboardPage', 'listDashboards', { project_id: 'id' }]),
  withArguments(window, ['events', 'EventPage', 'listEvents', { project_id: 'id' }]),
  withArguments(window, ['plugins', 'PluginPage', 'listPlugins', { parent_lookup_organization_id: 'organization' }]),
  withArguments('id: Int!', ['dashboard', 'Dashboard', 'getDashboard', { project_id: 'id' }]),
].join('\n');

// Mesh would cut timestamps to milliseconds, and have no type for events that may be bare rows.
const source = './rest.openapi.yaml';
const contract = readFileSync(new URL('../../../schema/rest.openapi.yaml', import.meta.url), 'utf8');
const plain = contract.replaceAll(', format: date-time', '').replace(/anyOf:\s+- (\$ref: '\S+EventPage')\s+- .*/, '$1');
writeFileSync(source, plain);

export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadOpenAPISubgraph('api', {
        source,
        endpoint: process.env.UPSTREAM,
        ignoreErrorResponses: true,
        operationHeaders: { authorization: '{context.headers.authorization}' },
      }),
    },
  ],
  additionalTypeDefs: `
    extend type ProjectListItem {
      ${relations}
      ${relation('detail', 'Project', 'getProject', { id: 'id' })}
    }
    extend type Project {
      ${relations}
      ${relation('primaryDashboard', 'Dashboard', 'getDashboard', { project_id: 'id', id: 'primary_dashboard' })}
    }`,
});
