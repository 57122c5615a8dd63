import { describe, expect, test } from 'vitest';
import { reaches, reachesTarget } from '../../src/rest/reach.ts';

const own = '0188f3c5-7a31-7c11-9d2b-0e5a4c1f6b77';
const other = '0188f3c5-7a31-7c11-9d2b-0e5a4c1f6b78';
const reach = { projects: new Set(['1', '2']), organizations: new Set([own]) };

test('an organization is reached however it is spelt, and what @current stands for is not', () => {
  expect(reaches(reach, { noun: 'Organization', scope: '', id: own.toUpperCase() })).toBe(true);
  expect(reaches(reach, { noun: 'Project', scope: '', id: '@current' })).toBe(false);
  expect(reaches(reach, { noun: 'Dashboard', scope: '@current', id: '1' })).toBe(false);
});

describe('The second lock', () => {
  test('lets all calls pass without limited reach', () => {
    expect(reachesTarget(undefined, 'POST', '/api/projects/')).toBe(true);
  });

  test.each([
    ['GET', '/api/projects/1/'],
    ['GET', '/api/projects/2/dashboards/?limit=3'],
    ['PATCH', '/api/projects/1/dashboards/7/move_tile/'],
    ['GET', `/api/organizations/${own}/plugins/?limit=1`],
    ['GET', '/api/projects/?limit=100'],
  ])('lets %s %s pass', (method, target) => {
    expect(reachesTarget(reach, method, target)).toBe(true);
  });

  test.each([
    ['GET', '/api/projects/3/'],
    ['GET', '/api/projects/@current/'],
    ['GET', '/api/projects/%31/'],
    ['GET', '/api/projects/11/'],
    ['GET', '/api/projects//1/'],
    ['POST', '/api/projects/'],
    ['GET', '/api/organizations/@current/plugins/'],
    ['GET', `/api/organizations/${other}/plugins/`],
    ['GET', '/api/organizations/'],
    ['GET', '/api/users/@me/'],
    ['GET', '/api/projects/all'],
    ['GET', 'api/projects/1/'],
  ])('refuses %s %s', (method, target) => {
    expect(reachesTarget(reach, method, target)).toBe(false);
  });
});
