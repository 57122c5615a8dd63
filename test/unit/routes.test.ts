import { expect, test } from 'vitest';
import { routeTemplate } from '../../src/rest/routes.ts';

test.for<[target: string, template: string]>([
  ['/api/projects/', '/api/projects/'],
  ['/api/projects/?limit=2', '/api/projects/'],
  ['/api/projects/7/', '/api/projects/:id/'],
  ['/api/projects/@current/', '/api/projects/:id/'],
  ['/api/projects/7/dashboards/', '/api/projects/:id/dashboards/'],
  ['/api/projects/7/dashboards/12/', '/api/projects/:id/dashboards/:id/'],
  ['/api/projects/7/dashboards/12/move_tile/', '/api/projects/:id/dashboards/:id/move_tile/'],
  ['/api/projects/7/dashboards/create_from_template_json/', '/api/projects/:id/dashboards/create_from_template_json/'],
  ['/api/projects/7/events/values/?key=a/b', '/api/projects/:id/events/values/'],
  ['/api/organizations/o-1/plugins/3/upgrade/', '/api/organizations/:id/plugins/:id/upgrade/'],
  ['/api/organizations/o-1/plugins/unused/', '/api/organizations/:id/plugins/unused/'],
])('%s is counted as %s', ([target, template]) => {
  expect(routeTemplate(target)).toBe(template);
});
