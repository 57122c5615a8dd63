import type { MutationResolvers } from '../graphql/generated/resolvers.ts';
import { toRecord } from '../graphql/records.ts';
import { isObject } from '../rest/values.ts';
import { changeRow, createRow, deletedId, prepareChange, write } from './writes.ts';

/** The mutations of projects. Ids are checked, and the body made, before anything is sent. */
export const projectMutations: Pick<MutationResolvers, 'createProject' | 'updateProject' | 'deleteProject'> = {
  createProject: async (_root, { input }, context, info) => ({
    project: await createRow('Project', input, context, info),
  }),
  updateProject: async (_root, { input }, context, info) => ({
    project: await changeRow('Project', input, context, info),
  }),
  deleteProject: async (_root, { input }, context, info) => {
    const { key } = await prepareChange('Project', input, context, info);
    const row = await write(context, () => context.rest.deleteRow(key));
    const project = isObject(row) ? toRecord(key, { id: key.id, row, view: 'detail' }) : null;
    return { deletedId: deletedId(key), project };
  },
};
