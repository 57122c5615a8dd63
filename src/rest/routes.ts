/** What the service limits apart from each other, per key. */
export type Surface = 'events' | 'values' | 'everything else';

/** Words that follow a collection's path where a row's id could stand. */
const collectionActions: ReadonlySet<string> = new Set([
  'values',
  'create_from_template_json',
  'activity',
  'exports_unsubscribe_configs',
  'repository',
  'unused',
]);

/** `/api/projects/7/events/?limit=2` as `/api/projects/:id/events/`: few, whatever is asked for. */
export function routeTemplate(target: string): string {
  // /api/<noun>/<id>/<noun>/<id or action>/<action>/, and searched rather than split, since every call is counted.
  const path = pathOf(target);
  const first = path.indexOf('/', '/api/'.length) + 1;
  if (first === 0 || first === path.length) return path;
  const firstEnd = endOf(path, first);
  const second = path.indexOf('/', firstEnd + 1) + 1;
  const owner = `${path.slice(0, first)}:id`;
  if (second === 0 || second === path.length) return owner + path.slice(firstEnd);
  const secondEnd = endOf(path, second);
  if (collectionActions.has(path.slice(second, secondEnd))) return owner + path.slice(firstEnd);
  return `${owner}${path.slice(firstEnd, second)}:id${path.slice(secondEnd)}`;
}

/** Where the segment ends that begins at an index. */
function endOf(path: string, start: number): number {
  const end = path.indexOf('/', start);
  return end === -1 ? path.length : end;
}

/** Which of the three rate limits a path counts against. */
export function surfaceOf(target: string): Surface {
  const path = pathOf(target);
  if (path.endsWith('/events/values/')) return 'values';
  return /^\/api\/projects\/[^/]+\/events\//.test(path) ? 'events' : 'everything else';
}

function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}
