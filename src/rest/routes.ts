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
  const segments = pathOf(target).split('/');
  // The first segment is empty: /api/<noun>/<id>/<noun>/<id or action>/<action>/
  if (isFilled(segments[3])) segments[3] = ':id';
  const fifth = segments[5];
  if (isFilled(fifth) && !collectionActions.has(fifth)) segments[5] = ':id';
  return segments.join('/');
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

function isFilled(segment: string | undefined): segment is string {
  return segment !== undefined && segment !== '';
}
