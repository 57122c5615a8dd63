import { useMutation } from '@tanstack/react-query';
import { execute } from '../gateway/execute.ts';
import { PinDashboardDocument } from '../generated/graphql.ts';

/** The state of a dashboard's pin, and a way to change it. */
interface Pinning {
  readonly isPinned: boolean;
  readonly isChanging: boolean;
  /** Why the last change failed. */
  readonly error: Error | null;
  readonly toggle: () => void;
}

/** Pins a dashboard, or not. The gateway decides who may: the page does not know the roles of its user. */
export function usePin(id: string, wasPinned: boolean): Pinning {
  const change = useMutation({
    mutationFn: async (pinned: boolean) => {
      const { data, failure } = (await execute(PinDashboardDocument, { id, pinned })).result;
      if (failure !== undefined) throw failure;
      return data.updateDashboard?.dashboard?.pinned ?? pinned;
    },
  });
  const isPinned = change.data ?? wasPinned;
  return {
    isPinned,
    isChanging: change.isPending,
    error: change.error,
    toggle: () => change.isPending || change.mutate(!isPinned),
  };
}
