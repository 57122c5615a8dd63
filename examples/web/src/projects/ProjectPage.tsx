import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Dashboards } from '../dashboards/Dashboards.tsx';
import { Events } from '../events/Events.tsx';
import { execute } from '../gateway/execute.ts';
import { idOf } from '../gateway/request.ts';
import { errorOf } from '../gateway/tryAgain.ts';
import { useResults } from '../gateway/useResults.ts';
import { ProjectHeaderDocument } from '../generated/graphql.ts';
import { Failure } from '../lists/Failure.tsx';
import { Skeleton } from '../lists/Skeleton.tsx';
import { ProjectHeader } from './ProjectHeader.tsx';

/** A project with its dashboards and events, which load beside each other and fail on their own. */
export function ProjectPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: [idOf(ProjectHeaderDocument), id],
    queryFn: async ({ signal }) => {
      const read = await execute(ProjectHeaderDocument, { id }, signal);
      const { data, failure } = read.result;
      if (failure !== undefined && data.project === null) throw failure;
      return read;
    },
  });
  const { data: answer, isFetching, refetch } = query;
  const [result] = useResults(useMemo(() => (answer === undefined ? [] : [answer]), [answer]));
  const failure = errorOf(query) ?? result?.failure;
  if (result?.data.project === null) return <p className="empty">There is no such project.</p>;
  return (
    <>
      {result?.data.project && (
        <ProjectHeader
          project={result.data.project}
          growth={{ isGrowing: !result.isComplete, failedFields: fieldsIn(result.failedPaths) }}
        />
      )}
      {result === undefined && failure === undefined && <Skeleton what="project" rows={1} />}
      {failure && (
        <Failure
          what="project"
          error={failure}
          isPartial={result !== undefined}
          isRetrying={isFetching}
          onRetry={() => void refetch()}
        />
      )}
      <Dashboards projectId={id} />
      <Events projectId={id} />
    </>
  );
}

/** The fields of the project among paths such as `project.organization`. */
function fieldsIn(paths: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...paths].map((path) => path.replace(/^project\./, '')));
}
