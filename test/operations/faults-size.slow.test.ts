import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { measured } from '../support/form.ts';
import { ask } from '../support/gateway.ts';
import { peakMemory, runWeighed } from '../support/memory.ts';
import { codesOf } from '../support/outcomes.ts';
import { type Reply, raw, reply } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const mebibyte = 2 ** 20;

/** Sends 200 MB, as fast as they are taken, and does not say so before. */
const endless = raw((response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(mebibyte, ' ');
  let left = 200;
  const send = (): void => {
    while (left > 0) {
      left -= 1;
      if (!response.write(chunk)) {
        response.once('drain', send);
        return;
      }
    }
    response.end('{}');
  };
  send();
});

const bomb = gzipSync(Buffer.alloc(200 * mebibyte, ' '));

const faults: [name: string, fault: Reply][] = [
  ['of 200 MB', endless],
  ['of gzip that holds 200 MB', reply({ headers: { 'content-encoding': 'gzip' }, body: bomb })],
  ['of gzip in gzip that holds 200 MB', reply({ headers: { 'content-encoding': 'gzip, gzip' }, body: gzipSync(bomb) })],
];

test.each(faults)('a body %s is left at 8 MB: memory grows by less than 100 MB', async (name, fault) => {
  let broken = false;
  await using upstream = await startUpstream({
    'GET /api/projects/1/': project(1),
    'GET /api/projects/2/': () => (broken ? fault : project(2)),
  });
  upstream.release();
  await using gateway = runWeighed({ PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn' });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  const query = '{ one: project(id: 1) { name } two: project(id: 2) { name } }';
  for (let times = 0; times < 3; times += 1) expect((await ask(url, query)).errors).toBeUndefined();
  const before = await gateway.weigh();
  broken = true;
  for (let times = 0; times < 5; times += 1) {
    const answer = await ask(url, query);
    expect(codesOf(answer)).toEqual(['two UPSTREAM_INVALID_RESPONSE']);
    expect(answer.data).toEqual({ one: { name: 'Project 1' }, two: null });
  }
  const grown = (await peakMemory(gateway)) - before.resident;
  measured(`a body ${name}`, { grownMB: Math.round(grown / mebibyte) });
  expect(grown).toBeLessThan(100 * mebibyte);
  broken = false;
  expect((await ask(url, query)).errors).toBeUndefined();
});
