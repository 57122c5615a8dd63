import type { ProjectFactsFragment } from '../generated/graphql.ts';
import { Moment } from '../Moment.tsx';

/** The name of a project and what else is known of it. */
export function ProjectHeader({ name, timezone, createdAt, organization, primaryDashboard }: ProjectFactsFragment) {
  const title = name || 'Untitled project';
  return (
    <header>
      <title>{`${title} · Workspace`}</title>
      <h1>{title}</h1>
      <dl>
        <div>
          <dt>Organization</dt>
          <dd>{organization?.name ?? 'unknown'}</dd>
        </div>
        <div>
          <dt>Primary dashboard</dt>
          <dd>{primaryDashboard?.name ?? 'none'}</dd>
        </div>
        <div>
          <dt>Time zone</dt>
          <dd>{timezone ?? 'unknown'}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Moment at={createdAt} />
          </dd>
        </div>
      </dl>
    </header>
  );
}
