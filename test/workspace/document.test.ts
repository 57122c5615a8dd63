import { afterAll, expect, test } from 'vitest';
import { document } from '../../workspace/generated/document.ts';
import { addRoutes } from '../../workspace/routes.ts';
import { openStore } from '../../workspace/store.ts';
import { createApp } from '../../workspace/workspace.ts';
import { type Members, membersOf, resultsOf, startClient } from './client.ts';
import { samples, targetIn } from './samples.ts';

const client = await startClient();
afterAll(() => client[Symbol.asyncDispose]());

test('the samples ask for all operations of the document', () => {
  const operations = Object.entries(membersOf(document.paths)).flatMap(([path, item]) =>
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
  const responses = membersOf(membersOf(membersOf(membersOf(document.paths)[path])[method.toLowerCase()]).responses);
  expect(Object.keys(responses)).toContain(String(status));
  const { content } = membersOf(responses[String(status)]);
  expect(await errorsOf(content, headers.get('content-type'), answered)).toBeNull();
});

/** The error in a body of which the document says `content`; null if there is none. */
async function errorsOf(content: unknown, contentType: string | null, body: unknown): Promise<unknown> {
  if (content === undefined) return body === '' ? null : 'expected no body';
  const { schema } = membersOf(membersOf(content)[String(contentType?.split(';')[0])]);
  const app = createApp();
  app.get('/', (request) => {
    const validate = request.compileValidationSchema(absolute(schema));
    return { errors: validate(body) ? null : validate.errors };
  });
  const { errors } = membersOf((await app.inject('/')).json());
  return errors;
}

function absolute(schema: unknown): Members {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"rest#');
  return membersOf(JSON.parse(text));
}

test('an operation without a handler fails the start', () => {
  const unknown = { paths: { '/api/insights/': { get: { operationId: 'listInsights' } } } };
  expect(() => addRoutes(createApp(), unknown, openStore(':memory:'), {})).toThrow('listInsights has no handler');
});
