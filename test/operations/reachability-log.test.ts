import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import type { Log } from '../../src/log.ts';
import { checkUpstream } from '../../src/rest/check-upstream.ts';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { apiError, reply } from '../support/replies.ts';

/** A log that keeps what it says of the upstream, with the reason. */
function createRecorder(): { readonly lines: string[]; readonly log: Log } {
  const lines: string[] = [];
  const log: Log = (_level, message, facts = {}) => {
    const { reason } = { reason: undefined, ...facts };
    if (message.startsWith('upstream ')) lines.push(`${message} ${String(reason)}`);
  };
  return { lines, log };
}

test("pages of another server with status 200 are reported once, and are never taken for the API's answers", async () => {
  const { lines, log } = createRecorder();
  const { upstream, gateway } = await startBoth(
    () => reply({ body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } }),
    { log },
  );
  for (let count = 0; count < 5; count += 1) await gateway.ask('{ project(id: 1) { name } }');
  expect(upstream.requests.length).toBeGreaterThanOrEqual(5);
  expect(lines).toEqual(['upstream fails NOT_THE_API']);
  expect(gateway.gateway.resources.reachability.state.kind).toBe('failing');
});

test('an upstream that answers 404 to every path does not seem to answer again because an object is not there', async () => {
  const { lines, log } = createRecorder();
  const server = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(apiError('not_found')));
  });
  // Not `startUpstream`, which hides what is asked at the start.
  await using gateway = await startGateway({ url: `http://127.0.0.1:${await listen(server)}` }, { log });
  await checkUpstream(gateway.gateway.resources);
  expect((await gateway.ask('{ project(id: 1) { name } }')).data).toEqual({ project: null });
  expect(lines).toEqual(['upstream fails WRONG_PATH']);
  expect(gateway.gateway.resources.reachability.state).toMatchObject({
    kind: 'failing',
    reason: 'WRONG_PATH',
    place: 'upstream',
  });
  server.close();
});

test('an upstream that refuses what is asked answers', async () => {
  const { lines, log } = createRecorder();
  const refusal = reply({
    status: 403,
    body: { type: 'authentication_error', code: 'permission_denied', detail: 'No.' },
  });
  const { gateway } = await startBoth(() => refusal, { log });
  await gateway.ask('{ project(id: 1) { name } }');
  expect(lines).toEqual([]);
  expect(gateway.gateway.resources.reachability.state.kind).toBe('answering');
});
