import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import { expect, test } from 'vitest';
import { createSchema } from '../../src/schema.ts';
import { startWorkspace } from '../../workspace/workspace.ts';
import { at, textAt } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { as } from '../support/load.ts';

const schema = createSchema();

/** Each field of an object that needs no argument, with one field of what it leads to. */
function selectionsOf(type: GraphQLObjectType): string[] {
  const fields = Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
  return fields.map((field) => {
    const { name } = field;
    const inside = getNamedType(field.type);
    if (!isObjectType(inside)) return name;
    const below = Object.values(inside.getFields());
    if (below.some((one) => one.name === 'nodes')) return `${name} { nodes { id } }`;
    const leaf = below.find((one) => isLeafType(getNamedType(one.type)) && one.name !== 'id');
    return `${name} { ${leaf?.name ?? '__typename'} }`;
  });
}

/** Members of inputs by which each mutation succeeds on the objects of the workspace. */
function inputsOf(project: string, organization: string, [one, other]: readonly string[], plugin: string) {
  return {
    createDashboard: `projectId: "${project}", name: "A"`,
    createDashboardFromTemplate: `projectId: "${project}", template: { template_name: "A", tiles: [] }`,
    updateDashboard: `id: "${one}", name: "A"`,
    deleteDashboard: `id: "${other}"`,
    restoreDashboard: `id: "${other}"`,
    createPlugin: `organizationId: "${organization}", name: "A", pluginType: SOURCE`,
    updatePlugin: `id: "${plugin}", name: "A"`,
    updatePluginSource: `id: "${plugin}", files: [{ name: "index.ts", text: "export {}" }]`,
    upgradePlugin: `id: "${plugin}"`,
    checkPluginForUpdates: `id: "${plugin}"`,
    createProject: 'name: "A"',
    updateProject: `id: "${project}", name: "A"`,
  };
}

test('whatever is selected on what a mutation answers, it makes the calls that were planned', async () => {
  const workspace = await startWorkspace({ port: 0, host: '127.0.0.1' });
  try {
    await using gateway = await startGateway(workspace, { explain: true });
    const asked = as(workspace.demoKey);
    const listed = await gateway.ask(
      `{ projects(first: 1) { nodes { id organizationId dashboards(first: 2) { nodes { id } } } }
         organization(id: "@current") { plugins(first: 1) { nodes { id } } } }`,
      asked,
    );
    const project = at(listed.data, 'projects', 'nodes', 0);
    const dashboards = [0, 1].map((index) => textAt(project, 'dashboards', 'nodes', index, 'id'));
    const plugin = textAt(listed.data, 'organization', 'plugins', 'nodes', 0, 'id');
    const inputs = inputsOf(textAt(project, 'id'), textAt(project, 'organizationId'), dashboards, plugin);
    const faults: string[] = [];
    let cases = 0;
    for (const [mutation, input] of Object.entries(inputs)) {
      const payload = getNamedType(schema.getMutationType()?.getFields()[mutation]?.type);
      if (!isObjectType(payload)) throw new Error(`${mutation} has no payload`);
      for (const { name, type } of Object.values(payload.getFields())) {
        const object = getNamedType(type);
        if (!isObjectType(object) || !['dashboard', 'plugin', 'project'].includes(name)) continue;
        for (const selection of selectionsOf(object)) {
          const query = `mutation { ${mutation}(input: { ${input} }) { ${name} { ${selection} } } }`;
          const plan = await gateway.ask(query, { ...asked, extensions: { explain: 'plan' } });
          const made = await gateway.ask(query, { ...asked, extensions: { cost: true } });
          const lower = Number(at(plan.extensions, 'explain', 'lower'));
          const upper = Number(at(plan.extensions, 'explain', 'upper'));
          const actual = Number(at(made.extensions, 'cost', 'actual'));
          if (actual < lower || actual > upper) faults.push(`${lower} to ${upper} planned, ${actual} made: ${query}`);
          cases += 1;
        }
      }
    }
    expect(faults).toEqual([]);
    expect(cases).toBeGreaterThan(200);
  } finally {
    await workspace.close();
  }
});
