import { type Pages, usePages } from '../gateway/usePages.ts';
import { type ProjectLinkFragment, ProjectsDocument } from '../generated/graphql.ts';

/** The projects that the user may see. */
export function useProjects(): Pages<ProjectLinkFragment> {
  return usePages(ProjectsDocument, {}, ({ projects }) => projects);
}
