import { isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { restNameOf } from '../../src/graphql/field-mapping.ts';
import { inputPathOf } from '../../src/graphql/input-error.ts';
import { toUpstreamError } from '../../src/rest/response-errors.ts';
import { createSchema } from '../../src/schema.ts';

const key = 'phx_key_of_the_caller';

function errorsOf(body: unknown, status = 400) {
  const headers = { 'content-type': 'application/json' };
  return toUpstreamError(status, headers, JSON.stringify(body), key).upstream?.errors;
}

describe('a validation error of the upstream says what is wrong with which field', () => {
  test.each([
    ['of fields', { name: ['may not be blank'], tags: ['a', 'b'] }, ['name: may not be blank', 'tags: a', 'tags: b']],
    ['of nested fields', { filters: { insight: { kind: ['no'] } } }, ['filters.insight.kind: no']],
    ['of items', { tiles: [{}, { id: ['no integer'] }] }, ['tiles.1.id: no integer']],
    ['of bodies in a list', [{ name: ['blank'] }], ['0.name: blank']],
    ['of none', { non_field_errors: ['must differ'] }, ['null: must differ']],
    ['of none within a field', { filters: { non_field_errors: ['empty'] } }, ['filters: empty']],
    ['in a list alone', ['not allowed'], ['null: not allowed']],
    ['in a list `detail`', { detail: ['too many'] }, ['null: too many']],
    ['in an object `detail`', { detail: { name: ['blank'] } }, ['name: blank']],
    ['as a text in place of a list', { name: 'blank', trace: 'here' }, ['name: blank']],
    ['as a text within a field', { filters: { kind: 'no' } }, ['filters.kind: no']],
    ['beside null and empty members', { name: [null, '', [], {}, 'blank'] }, ['name: blank']],
    ['with codes', { name: [{ message: 'blank', code: 'blank' }] }, ['name: blank']],
    [
      'in `attr`',
      { type: 'validation_error', code: 'invalid', detail: 'bad', attr: 'filters__0__key' },
      ['filters.0.key: bad'],
    ],
  ])('%s', (_shape, body, expected) => {
    const errors = errorsOf(body);
    const lines = errors?.map(({ field, message }) => `${field}: ${message}`);
    expect(lines).toEqual(expected);
  });

  test.each([
    ['a long text', { name: ['x'.repeat(201)] }],
    ['a host', { name: ['db-1.prod.example.com said no'] }],
    ['a line break', { name: ['one\ntwo'] }],
    ['a name that is not one', { 'http://web.internal': ['no'] }],
    ['a text that is in no list and of no field', { trace: 'here', status_text: 'no', host: 'web' }],
    ['a depth that no input has', { a: { b: { c: { d: { e: { f: { g: ['deep'] } } } } } } }],
  ])('but never %s', (_what, body) => {
    expect(errorsOf(body)).toBeUndefined();
  });

  test('are passed on for twenty at most, and for none if the input is not at fault', () => {
    expect(errorsOf({ name: Array.from({ length: 50 }, (_, index) => `error ${index}`) })).toHaveLength(20);
    for (const status of [401, 403, 404, 429, 500]) expect(errorsOf({ name: ['no'] }, status)).toBeUndefined();
  });
});

test('fields that the upstream rejects have the names that they have in inputs', () => {
  const inputs = Object.values(createSchema().getTypeMap()).filter(isInputObjectType);
  for (const input of inputs) {
    for (const field of Object.values(input.getFields())) expect(inputPathOf(restNameOf(field))).toBe(field.name);
  }
  expect(inputPathOf('path_cleaning_filters.0.alias_name')).toBe('pathCleaningFilters.0.alias_name');
});

describe('No secret of another reaches a client', () => {
  const secrets = [
    'phx_abc',
    'phc_1234567890abcdefghij',
    'phs_x1',
    'AKIAIOSFODNN7EXAMPLE',
    'ASIAY34FZKBOKMUTVV7A',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'gho_16C7e42F292c',
    'github_pat_11ABCDEFG0',
    'glpat-abcdefghij',
    'xoxb-123-abc',
    'sk_live_abc',
    'rk_test_abc',
    'whsec_abc',
    'sk-proj-abcdefgh',
    'AIzaSyDabcdefghij',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    'Bearer abc',
    'Basic dXNlcjpwYXNz',
    'https://user:pass@web',
    'user:pass@web',
    '-----BEGIN PRIVATE KEY-----',
  ];
  const wrappings = [
    (secret: string) => secret,
    (secret: string) => `my_${secret}`,
    (secret: string) => `"${secret}".`,
  ];
  const texts = secrets.flatMap((secret) => wrappings.map((wrap) => [secret, wrap(secret)] as const));

  test.each(texts)('%s in %s, as a message, a name, a code, an attr or a detail', (secret, text) => {
    const bodies = [
      { name: [text] },
      { name: text },
      { detail: text, code: 'invalid', attr: 'name' },
      { detail: 'no', attr: text },
      { detail: 'no', code: text },
      { [text]: ['no'] },
      { filters: { [text]: ['no'] } },
      { filters: { [text]: 'no' } },
      { error: `cannot use ${text} here` },
      { errors: [{ message: text, code: text }] },
    ];
    for (const body of bodies) {
      for (const status of [400, 403, 404, 409, 500]) {
        const { upstream, message } = toUpstreamError(status, {}, JSON.stringify(body), key);
        const told = JSON.stringify(upstream) + message;
        expect(told).not.toContain(secret);
        expect(told).not.toContain(JSON.stringify(secret).slice(1, -1));
      }
    }
  });

  test('and what was wrong is told without the name', () => {
    expect(errorsOf({ filters: { phx_abc: ['may not be blank'] } })).toEqual([
      { field: null, message: 'may not be blank' },
    ]);
  });
});

test('an error of 5,000 lists within each other is the error of its status', () => {
  const told = toUpstreamError(400, {}, `{"type":"x","name":${'['.repeat(5000)}"deep"${']'.repeat(5000)}}`, 'phx_a');
  expect(told.code).toBe('BAD_USER_INPUT');
});
