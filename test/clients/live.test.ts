/** Client libraries as they are follow events of a running gateway, all at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runMain } from '../support/process.ts';
import { startUpstream } from '../support/upstream.ts';
import { followers, type Tail } from './live/followers.ts';

/** A project in which an event is captured between any two polls. */
function everNew() {
  let polls = 0;
  return () => {
    polls += 1;
    const results = Array.from({ length: polls }, (_, index) => ({
      id: `event ${polls - index}`,
      event: `Event ${polls - index}`,
      timestamp: new Date(Date.parse('2024-05-01T10:00:00Z') + (polls - index) * 1000).toISOString(),
    }));
    return { next: null, results };
  };
}

test('every client gets each event once and in order, and one poll answers all of them', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/events/': everNew() });
  upstream.release();
  await using running = runMain([], { PORT: '0', UPSTREAM_URL: upstream.url, LIVE: 'on', LIVE_POLL_SECONDS: '2' });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  const gateway = { url, key: 'phx_clients' };
  const heard = new Map(followers.map(({ name }) => [name, [] as (string | null)[]]));
  const losses = new Set<string>();
  const ends = followers.map(({ name, follow }) => {
    const tell = ({ eventsAdded }: Tail): void => {
      heard.get(name)?.push(...eventsAdded.nodes.map(({ event }) => event));
    };
    return follow(gateway, tell, () => losses.add(name));
  });
  const curl = followWithCurl(gateway);
  await expect
    .poll(() => [...heard.values()].every(({ length }) => length >= 2), { timeout: 15_000, interval: 50 })
    .toBe(true);
  for (const [name, events] of heard) expect([name, ...events.slice(0, 2)]).toEqual([name, 'Event 2', 'Event 3']);
  await expect.poll(() => curl.output()).toContain('event: next\ndata: {"data":{"eventsAdded":');
  expect(upstream.mostInFlight).toBe(1);
  // A gateway that stops breaks its streams off, so that clients, or who uses them, come again.
  const curlEnded = once(curl.child, 'exit');
  running.child.kill('SIGTERM');
  await expect.poll(() => losses).toEqual(new Set(followers.map(({ name }) => name)));
  expect(await curlEnded).toEqual([18, null]);
  for (const end of ends) end();
  expect(await running.exit()).toBe(0);
}, 60_000);

test('the documented clients are those that are tried', () => {
  const page = readFileSync(new URL('../../docs/incremental.md', import.meta.url), 'utf8');
  const [, chapter = ''] = page.split('### Which client speaks what');
  const rows = [
    ...chapter
      .split('###', 1)
      .join('')
      .matchAll(/^\| (?!Client |---)(.*?) \|/gm),
  ].map(([, name]) => name);
  expect(rows).toEqual([...followers.map(({ name }) => name), '`curl -N`']);
});

/** Follows as a person does at a terminal. */
function followWithCurl({ url, key }: { readonly url: string; readonly key: string }) {
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { event } } }';
  const headers = ['Accept: text/event-stream', 'Content-Type: application/json', `Authorization: Bearer ${key}`];
  const args = ['-sN', url, ...headers.flatMap((header) => ['-H', header]), '-d', JSON.stringify({ query })];
  const child = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
  return { child, output: () => text };
}
