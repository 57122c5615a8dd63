import type { Pages } from '../gateway/usePages.ts';
import type { ProjectLinkFragment } from '../generated/graphql.ts';
import { PagedList } from '../lists/PagedList.tsx';

interface ProjectLinksProps {
  readonly projects: Pages<ProjectLinkFragment>;
  readonly selected: string | undefined;
}

/** A link to each project. */
export function ProjectLinks({ projects, selected }: ProjectLinksProps) {
  return (
    <nav aria-label="Projects">
      <PagedList what="projects" pages={projects} whenEmpty="There are no projects yet.">
        {(nodes) => (
          <ul>
            {nodes.map(({ id, upstreamId, name, timezone }) => (
              <li key={id}>
                <a href={`#${upstreamId}`} aria-current={upstreamId === selected ? 'page' : undefined}>
                  {name || 'Untitled project'}
                  <small>{timezone}</small>
                </a>
              </li>
            ))}
          </ul>
        )}
      </PagedList>
    </nav>
  );
}
