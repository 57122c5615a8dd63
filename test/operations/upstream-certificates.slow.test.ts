import { createServer, type Server } from 'node:https';
import { describe, expect, test } from 'vitest';
import { measured } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { codesOf, pause } from '../support/load.ts';
import { createFolder } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { authority, authorityPath, clientNameOf, clientTls, serverTls } from '../support/tls.ts';

const query = '{ project(id: 1) { name } }';
const change = 'mutation { updateProject(input: { id: 1, name: "a" }) { project { name } } }';

/** An https upstream that notes who asks. */
interface Asked extends AsyncDisposable {
  readonly url: string;
  /** The method of each request, and the common name of its client's certificate, `no certificate` without one. */
  readonly requests: readonly string[];
}

async function startAsking({ refuses = false, delayMs = 0 } = {}): Promise<Asked> {
  const requests: string[] = [];
  const options = { ...serverTls, ca: authority, requestCert: true, rejectUnauthorized: refuses };
  const server: Server = createServer(options, (request, response) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) requests.push(`${request.method} ${clientNameOf(request.socket)}`);
    response.setHeader('content-type', 'application/json');
    setTimeout(() => response.end('{"id":1,"name":"Project 1"}'), delayMs);
  });
  const port = await listen(server);
  return {
    url: `https://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('A client certificate', () => {
  test('is shown to an upstream that asks for one, by reads and by writes', async () => {
    await using upstream = await startAsking({ refuses: true });
    await using gateway = await startGateway(upstream, {
      upstreamRoute: { authorities: authority, client: clientTls },
    });
    expect((await gateway.ask(query)).errors).toBeUndefined();
    expect((await gateway.ask(change)).errors).toBeUndefined();
    expect(upstream.requests).toEqual(['GET gateway', 'PATCH gateway']);
    await using without = await startGateway(upstream, { upstreamRoute: { authorities: authority } });
    expect(codesOf(await without.ask(query))).toEqual(['UPSTREAM_UNAVAILABLE']);
  });

  test('reaches the upstream through a tunnel, and never the proxy', async () => {
    await using upstream = await startAsking({ refuses: true });
    await using proxy = await startProxy({
      tls: { ...serverTls, ca: authority, requestCert: true, rejectUnauthorized: false },
    });
    const upstreamRoute = {
      proxy: proxy.url.replace('127.0.0.1', 'localhost'),
      authorities: authority,
      client: clientTls,
    };
    await using gateway = await startGateway(upstream, { upstreamRoute });
    expect((await gateway.ask(query)).errors).toBeUndefined();
    expect(upstream.requests).toEqual(['GET gateway']);
    expect(proxy.clients).toEqual(['no certificate']);
  });
});

describe('Certificates', () => {
  test.each([
    ['directly', false],
    ['through a proxy', true],
  ])('that change under a load of reads and writes %s cost none of them', async (_way, isProxied) => {
    using folder = createFolder();
    await using upstream = await startAsking({ delayMs: 10 });
    await using proxy = await startProxy();
    const upstreamRoute = isProxied ? { proxy: proxy.url } : {};
    const pairs = [clientTls, { certificate: serverTls.cert, key: serverTls.key }];
    const files = { UPSTREAM_CA: authorityPath, ...writePair(folder, clientTls) };
    await using gateway = await startGateway(upstream, {
      upstreamRoute,
      upstreamTlsFiles: files,
      maxUpstreamInFlight: 16,
    });
    const end = new AbortController();
    let reads = 0;
    let writes = 0;
    const clients = Array.from({ length: 20 }, async (_, index) => {
      while (!end.signal.aborted) {
        const isWrite = index % 2 === 0;
        const headers = { authorization: `Bearer phx_${index}` };
        expect((await gateway.ask(isWrite ? change : query, { headers })).errors).toBeUndefined();
        if (isWrite) writes += 1;
        else reads += 1;
      }
    });
    for (let reloads = 1; reloads <= 10; reloads += 1) {
      writePair(folder, pairs[reloads % 2] ?? clientTls);
      await gateway.gateway.reload();
      await pause(100);
    }
    end.abort();
    await Promise.all(clients);
    expect(upstream.requests.filter((line) => line.startsWith('PATCH'))).toHaveLength(writes);
    expect(upstream.requests.filter((line) => line.startsWith('GET'))).toHaveLength(reads);
    expect(new Set(upstream.requests)).toEqual(
      new Set(['GET gateway', 'PATCH gateway', 'GET upstream.test', 'PATCH upstream.test']),
    );
    expect(gateway.reported).toEqual([]);
    measured(`ten changes of certificates ${isProxied ? 'through a proxy' : 'directly'}`, {
      reads,
      writes,
      failed: 0,
    });
  });

  test('are followed; files that cannot be used, or do not fit each other, are logged and change nothing', async () => {
    using folder = createFolder();
    await using upstream = await startAsking();
    const logged: string[] = [];
    const files = { UPSTREAM_CA: folder.write('ca.pem', authority), ...writePair(folder, clientTls) };
    await using gateway = await startGateway(upstream, {
      upstreamTlsFiles: files,
      log: (level, message, facts) => logged.push(`${level}: ${message} ${JSON.stringify(facts ?? {})}`),
    });
    const certificateLines = (): string[] => logged.filter((line) => line.includes('certificates'));
    const told = async (count: number): Promise<string> => {
      while (certificateLines().length < count) await pause(20);
      return certificateLines()[count - 1] ?? '';
    };
    folder.write('key.pem', serverTls.key);
    expect(await told(1)).toMatch(
      /^error: certificates for the upstream stay as they were: UPSTREAM_CLIENT_KEY: expected/,
    );
    folder.write('ca.pem', 'nothing');
    expect(await told(2)).toMatch(/^error: .*UPSTREAM_CA: expected the path of a PEM file/);
    expect((await gateway.ask(query)).errors).toBeUndefined();
    folder.write('ca.pem', authority);
    folder.write('client.pem', serverTls.cert);
    // In between they may have been seen one by one.
    while (!logged.includes('info: certificates for the upstream were read again {"changed":true}')) await pause(20);
    expect((await gateway.ask(query)).errors).toBeUndefined();
    expect(upstream.requests).toEqual(['GET gateway', 'GET upstream.test']);
    expect(logged.join('\n')).not.toMatch(/BEGIN|PRIVATE/);
  });

  test('are read again by every worker on SIGHUP', async () => {
    using folder = createFolder();
    await using upstream = await startAsking();
    const settings = { UPSTREAM_CA: authorityPath, ...writePair(folder, clientTls) };
    await using gateway = runMain([], {
      PORT: '0',
      WORKERS: '2',
      STOP_DELAY_MS: '0',
      UPSTREAM_URL: upstream.url,
      ...settings,
    });
    await gateway.printed(/^Gateway +/m);
    gateway.child.kill('SIGHUP');
    await gateway.printed(/read again"?[^]*read again/);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit()).toBe(0);
  });
});

function writePair(
  folder: { readonly write: (name: string, content: unknown) => string },
  { certificate, key }: { readonly certificate: string; readonly key: string },
): { UPSTREAM_CLIENT_CERT: string; UPSTREAM_CLIENT_KEY: string } {
  return {
    UPSTREAM_CLIENT_CERT: folder.write('client.pem', certificate),
    UPSTREAM_CLIENT_KEY: folder.write('key.pem', key),
  };
}
