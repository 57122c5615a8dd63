import type { DashboardCardFragment } from '../generated/graphql.ts';
import { Moment } from '../Moment.tsx';

/** A dashboard as it stands among others. */
export function DashboardCard({ name, description, pinned, tags, createdAt, createdBy }: DashboardCardFragment) {
  const author = [createdBy?.firstName, createdBy?.lastName].filter(Boolean).join(' ');
  return (
    <li className="card">
      <h3>
        {name || 'Untitled dashboard'} {pinned && <span className="badge">Pinned</span>}
      </h3>
      <p>{description}</p>
      <p className="meta">
        <span>
          {author || 'Nobody'}, <Moment at={createdAt} />
        </span>
        {tags?.map((tag) => (
          <span key={tag} className="tag">
            {tag}
          </span>
        ))}
      </p>
    </li>
  );
}
