import { useMutation } from '@apollo/client/react';
import { isAway } from './client.ts';
import { type Dashboard, pinDashboard } from './operations.ts';

/** A change is not sent twice: the first request may have reached the gateway. */
const unanswered = 'The gateway does not answer. Load the page again to see whether the change was made.';

/** A dashboard with a button that pins or unpins it. The page shows the change at once, and takes it back if it fails. */
export function DashboardItem({ id, name, pinned }: Dashboard) {
  const [pin, { error }] = useMutation(pinDashboard, { onError: () => undefined });
  const next = pinned !== true;
  const change = (): void => {
    void pin({
      variables: { id, pinned: next },
      optimisticResponse: {
        updateDashboard: {
          __typename: 'UpdateDashboardPayload',
          dashboard: { __typename: 'Dashboard', id, name, pinned: next },
        },
      },
    });
  };
  return (
    <li>
      {name ?? 'Untitled dashboard'}{' '}
      <button type="button" data-pinned={pinned === true} onClick={change}>
        {next ? 'Pin' : 'Unpin'}
      </button>
      {error !== undefined && <span role="alert">{isAway(error) ? unanswered : error.message}</span>}
    </li>
  );
}
