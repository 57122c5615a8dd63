import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { sendBytes } from '../support/wire.ts';

const routes = { 'GET /api/projects/1/': project(1) };
const everything = 'Authorization, Accept, Accept-Encoding, Origin';

test.each([
  ['POST', 'accept: application/json\r\n'],
  ['POST', 'accept: application/json\r\naccept-encoding: gzip\r\norigin: https://app.example\r\n'],
  ['POST', 'accept: text/event-stream\r\norigin: https://app.example\r\n'],
  ['POST', 'accept: image/png\r\n'],
  ['GET', 'accept: application/json\r\naccept-encoding: br\r\n'],
  ['GET', 'accept: text/html\r\naccept-encoding: gzip\r\norigin: https://app.example\r\n'],
  ['PUT', 'accept-encoding: gzip\r\n'],
  ['OPTIONS', 'origin: https://app.example\r\naccess-control-request-method: POST\r\n'],
  ['OPTIONS', 'origin: https://evil.example\r\naccess-control-request-method: POST\r\n'],
])('%s with %j: one Vary header names all that answers depend on', async (method, headers) => {
  const { gateway } = await startBoth(routes, { corsOrigins: ['https://app.example'] });
  const body = '{"query":"{ __schema { types { name fields { name } } } }"}';
  const head = `host: a\r\nconnection: close\r\ncontent-type: application/json\r\n${headers}`;
  const bytes =
    method === 'POST'
      ? `POST /graphql HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`
      : `${method} /graphql?query={__typename} HTTP/1.1\r\n${head}\r\n`;
  const answer = await sendBytes(gateway.url, bytes, 5000);
  const lines = answer.slice(0, answer.indexOf('\r\n\r\n')).split('\r\n');
  expect(lines.filter((line) => /^vary:/i.test(line)).map((line) => line.slice(6))).toEqual([everything]);
});

test('without CORS and compression answers depend on neither', async () => {
  const { gateway } = await startBoth(routes, { compression: false });
  for (const accept of ['application/json', 'text/event-stream']) {
    const headers = ['content-type', 'application/json', 'accept', accept, 'origin', 'https://app.example'];
    const answer = await sendRaw(gateway.url, { headers, body: '{"query":"{ __typename }"}' });
    expect(answer.headers['vary']).toBe('Authorization, Accept');
  }
});
