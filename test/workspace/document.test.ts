import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { afterAll, expect, test } from 'vitest';
import { addRoutes } from '../../workspace/routes.ts';
import { openStore } from '../../workspace/store.ts';
import { createApp } from '../../workspace/workspace.ts';
import { document as described } from '../contract/document.ts';
import { type Members, membersOf, resultsOf, startClient } from './client.ts';
import { samples, targetIn } from './samples.ts';

const document = membersOf(described);
const paths = membersOf(document.paths);
// Not strict, because a document holds more than schemas.
const ajv = formats.default(new Ajv({ strict: false, validateSchema: false })).addSchema({ $id: 'rest', ...document });

const client = await startClient();
afterAll(() => client[Symbol.asyncDispose]());

test('the samples ask for all operations of the document', () => {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(membersOf(item))
      .filter((method) => method !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const asked = new Set(samples.map(({ method, path }) => `${method} ${path}`));
  expect([...asked].toSorted()).toEqual(operations.toSorted());
  expect(asked.size).toBe(28);
});

test.each(samples)('$method $path$sent answers as the document says', async (sample) => {
  const { method, path, body } = sample;
  const [event] = resultsOf(await client.read('/api/projects/1/events/?limit=1'));
  const { status, headers, body: answered } = await client.send(method, targetIn(sample, String(event?.id)), body);
  const responses = membersOf(membersOf(membersOf(paths[path])[method.toLowerCase()]).responses);
  expect(Object.keys(responses)).toContain(String(status));
  const { content } = membersOf(responses[String(status)]);
  expect(errorsOf(content, headers.get('content-type'), answered)).toBeNull();
});

/** The error in a body of which the document says `content`; null if there is none. */
function errorsOf(content: unknown, contentType: string | null, body: unknown): unknown {
  if (content === undefined) return body === '' ? null : 'expected no body';
  const { schema } = membersOf(membersOf(content)[String(contentType?.split(';')[0])]);
  const validate = ajv.compile(absolute(schema));
  return validate(body) ? null : validate.errors;
}

function absolute(schema: unknown): Members {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"rest#');
  return membersOf(JSON.parse(text));
}

test('an operation without a handler fails the start', () => {
  const unknown = { id: 'listInsights', method: 'GET', path: '/api/insights/', parameters: [], validators: {} };
  expect(() => addRoutes(createApp(), [unknown], openStore(':memory:'), {})).toThrow('listInsights has no handler');
});
