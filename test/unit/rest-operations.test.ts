import { expect, test } from 'vitest';
import { operations } from '../../src/rest/generated/views.ts';

test('calls are counted by the path of their operation, without an id', () => {
  const routes = [...new Set(Object.values(operations).map(({ route }) => route))];
  expect(routes.filter((route) => !/^(?:\/(?:[a-z_]+|:id))+\/$/.test(route))).toEqual([]);
  expect(operations.getProject.route).toBe('/api/projects/:id/');
  expect(operations.moveDashboardTile.route).toBe('/api/projects/:id/dashboards/:id/move_tile/');
  expect(operations.upgradePlugin.route).toBe('/api/organizations/:id/plugins/:id/upgrade/');
});

test('the event endpoints have limits of their own', () => {
  const apart = Object.values(operations).filter(({ surface }) => surface !== 'rest');
  expect(apart.map(({ id, surface }) => [id, surface])).toEqual([
    ['listEvents', 'events'],
    ['listEventValues', 'values'],
    ['getEvent', 'events'],
  ]);
});
