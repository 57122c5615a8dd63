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
  const [first, firstEnd] = segmentAt(path, path.indexOf('/', '/api/'.length));
  const [second, secondEnd] = segmentAt(path, path.indexOf('/', firstEnd + 1));
  if (first === '') return path;
  const below = path.slice(firstEnd, secondEnd - second.length);
  const row = second === '' || collectionActions.has(second) ? second : ':id';
  return `${path.slice(0, firstEnd - first.length)}:id${below}${row}${path.slice(secondEnd)}`;
}

/** The segment behind a slash, empty where there is none, and where it ends. */
function segmentAt(path: string, slash: number): [segment: string, end: number] {
  if (slash === -1) return ['', path.length];
  const end = path.indexOf('/', slash + 1);
  const last = end === -1 ? path.length : end;
  return [path.slice(slash + 1, last), last];
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
