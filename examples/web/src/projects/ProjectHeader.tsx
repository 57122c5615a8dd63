import type { ProjectFactsFragment } from '../generated/graphql.ts';
import { Fact } from '../lists/Fact.tsx';
import { factState, type Growth } from '../lists/factState.ts';
import { Moment } from '../Moment.tsx';

interface ProjectHeaderProps {
  readonly project: ProjectFactsFragment;
  /** Tells which of its fields are still to come, and which failed. */
  readonly growth: Growth;
}

/** The name of a project and what else is known of it. */
export function ProjectHeader({ project, growth }: ProjectHeaderProps) {
  const title = project.name || 'Untitled project';
  return (
    <header>
      <title>{`${title} · Workspace`}</title>
      <h1>{title}</h1>
      <dl>
        <Fact name="Organization" state={factState(project, 'organization', growth)}>
          {project.organization?.name ?? 'unknown'}
        </Fact>
        <Fact name="Primary dashboard" state={factState(project, 'primaryDashboard', growth)}>
          {project.primaryDashboard?.name ?? 'none'}
        </Fact>
        <Fact name="Time zone" state="there">
          {project.timezone ?? 'unknown'}
        </Fact>
        <Fact name="Created" state="there">
          <Moment at={project.createdAt} />
        </Fact>
      </dl>
    </header>
  );
}
