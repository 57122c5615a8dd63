import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { parseOwnerId } from '../graphql/ids.ts';
import { toRecord } from '../graphql/records.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Collection, Key } from '../rest/paths.ts';
import { isObject } from '../rest/values.ts';
import { deletedId, write, writeRow } from './writes.ts';

const projects: Collection = { kind: 'Project', scope: '' };

/** The mutations of projects. Ids are checked, and the body made, before anything is sent. */
export const projectMutations: Pick<MutationResolvers, 'createProject' | 'updateProject' | 'deleteProject'> = {
  createProject: async (_root, { input }, context, info) => {
    const body = toRequestBody(input, info);
    return { project: await writeRow(projects, context, () => context.rest.createRow(projects, body)) };
  },
  updateProject: async (_root, { input }, context, info) => {
    const key = keyOf(input.id);
    const body = toRequestBody(input, info, key.id);
    return { project: await writeRow(projects, context, () => context.rest.changeRow(key, body)) };
  },
  deleteProject: async (_root, { input }, context) => {
    const key = keyOf(input.id);
    const row = await write(context, () => context.rest.deleteRow(key));
    const project = isObject(row) ? toRecord(projects, { id: key.id, row, view: 'detail' }) : null;
    return { deletedId: deletedId(key), project };
  },
};

function keyOf(id: string): Key {
  return { ...projects, id: parseOwnerId('Project', id, 'id') };
}
