import { useQuery } from '@tanstack/react-query';
import { Dashboards } from '../dashboards/Dashboards.tsx';
import { Events } from '../events/Events.tsx';
import { execute, idOf } from '../gateway/execute.ts';
import { ProjectHeaderDocument } from '../generated/graphql.ts';
import { Failure } from '../lists/Failure.tsx';
import { Skeleton } from '../lists/Skeleton.tsx';
import { ProjectHeader } from './ProjectHeader.tsx';

/** A project with its dashboards and events, which load beside each other and fail on their own. */
export function ProjectPage({ id }: { readonly id: string }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [idOf(ProjectHeaderDocument), id],
    queryFn: async ({ signal }) => {
      const result = await execute(ProjectHeaderDocument, { id }, signal);
      if (result.failure !== undefined && result.data.project === null) throw result.failure;
      return result;
    },
  });
  const failure = error ?? data?.failure;
  if (data?.data.project === null) return <p className="empty">There is no such project.</p>;
  return (
    <>
      {data !== undefined && <ProjectHeader {...data.data.project} />}
      {data === undefined && error === null && <Skeleton what="project" rows={1} />}
      {failure && (
        <Failure
          what="project"
          error={failure}
          isPartial={data !== undefined}
          isRetrying={isFetching}
          onRetry={() => void refetch()}
        />
      )}
      <Dashboards projectId={id} />
      <Events projectId={id} />
    </>
  );
}
