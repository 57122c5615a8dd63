import type { DashboardCardFragment } from '../generated/graphql.ts';
import { Fact } from '../lists/Fact.tsx';
import { explain } from '../lists/Failure.tsx';
import { factState, type Growth } from '../lists/factState.ts';
import { Moment } from '../Moment.tsx';
import { usePin } from './usePin.ts';

interface DashboardCardProps {
  readonly dashboard: DashboardCardFragment;
  /** Tells which of its details are still to come, and which failed. */
  readonly growth: Growth;
}

/** A dashboard as it stands among others. */
export function DashboardCard({ dashboard, growth }: DashboardCardProps) {
  const { id, name, description, pinned, tags, createdAt, createdBy, tiles, filters } = dashboard;
  const pin = usePin(id, pinned === true);
  const author = [createdBy?.firstName, createdBy?.lastName].filter(Boolean).join(' ');
  return (
    <li className="card">
      <h3>
        {name || 'Untitled dashboard'}
        <button
          type="button"
          className="pin"
          aria-pressed={pin.isPinned}
          aria-disabled={pin.isChanging}
          onClick={pin.toggle}
        >
          {pin.isPinned ? 'Pinned' : 'Pin'}
        </button>
      </h3>
      {pin.error !== null && (
        <p className="refusal" role="alert">
          {explain(pin.error)}
        </p>
      )}
      <p>{description}</p>
      <dl>
        <Fact name="Tiles" state={factState(dashboard, 'tiles', growth)}>
          {tiles?.length ?? 'unknown'}
        </Fact>
        <Fact name="Period" state={factState(dashboard, 'filters', growth)}>
          {periodOf(filters)}
        </Fact>
      </dl>
      <p className="meta">
        <span>
          {author || 'Nobody'}, <Moment at={createdAt} />
        </span>
        {tags
          ?.filter((tag) => tag !== null)
          .map((tag) => (
            <span key={tag} className="tag">
              {tag}
            </span>
          ))}
      </p>
    </li>
  );
}

const units: Readonly<Record<string, string>> = { h: 'hours', d: 'days', w: 'weeks', m: 'months' };

/** The structure of filters is the upstream's own: what is known of it is the member `date_from`, such as `-30d`. */
function periodOf(filters: unknown): string {
  const from = typeof filters === 'object' && filters !== null && 'date_from' in filters ? filters.date_from : '';
  const [, count, unit = ''] = /^-(\d+)([hdwm])$/.exec(String(from)) ?? [];
  return count === undefined ? 'Set by each tile' : `Last ${count} ${units[unit]}`;
}
