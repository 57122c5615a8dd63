import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { parseOwnerId } from '../graphql/ids.ts';
import { toRecord } from '../graphql/records.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Collection, Key } from '../rest/paths.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { addressed, deletedId, write, writeRow } from './writes.ts';

const projects: Collection = { noun: 'Project', scope: '' };

/** The mutations of projects. Ids are checked, and the body made, before anything is sent. */
export const projectMutations: Pick<MutationResolvers, 'createProject' | 'updateProject' | 'deleteProject'> = {
  createProject: async (_root, { input }, context, info) => {
    const body = toRequestBody(input, info, { reach: context.tenant?.reach });
    return { project: await writeRow(projects, context, () => context.rest.createRow(projects, body)) };
  },
  updateProject: async (_root, { input }, context, info) => {
    const { key, body } = await changeOf(input, context, info);
    return { project: await writeRow(projects, context, () => context.rest.changeRow(key, body)) };
  },
  deleteProject: async (_root, { input }, context, info) => {
    const { key } = await changeOf(input, context, info);
    const row = await write(context, () => context.rest.deleteRow(key));
    const project = isObject(row) ? toRecord(projects, { id: key.id, row, view: 'detail' }) : null;
    return { deletedId: deletedId(key), project };
  },
};

/** Which project an input changes, and how. */
function changeOf(
  input: { readonly id: string },
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<{ readonly key: Key; readonly body: JsonObject }> {
  const make = (given: string | null | undefined) => {
    const id = parseOwnerId('Project', given ?? '', 'id');
    return {
      key: { ...projects, id },
      body: toRequestBody(input, info, { projectId: id, reach: context.tenant?.reach }),
    };
  };
  return addressed({ type: 'Project', id: input.id, input }, make, context, info);
}
