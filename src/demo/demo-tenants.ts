import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** The parts of a demonstration of tenants. */
export interface DemoTenants {
  /** The settings of a gateway that takes the tokens. */
  readonly settings: Readonly<Record<string, string>>;
  /** A token of each tenant, good for eight hours, and what it may do, for people. */
  readonly tokens: readonly { readonly tenant: string; readonly about: string; readonly token: string }[];
  /** Where another token is had: `GET ?tenant=NAME&sub=USER`. */
  readonly tokenUrl: string;
  readonly close: () => Promise<void>;
}

const audience = 'workspace-gateway';
const lifetime = '8h';

/** Two tenants that share one key of the embedded workspace. */
const tenants = [
  {
    name: 'north',
    about: 'projects 1 and 2; may create and change dashboards',
    entry: { projects: ['1', '2'], mutations: ['createDashboard', 'updateDashboard'] },
  },
  { name: 'south', about: 'project 3; reads only', entry: { projects: ['3'] } },
] as const;

/**
 * Starts an identity provider for demonstrations, on this machine only: it gives a token to anyone who asks. Its key is
 * made anew at each start. `key` is the personal API key that the tenants share.
 */
export async function startDemoTenants(key: string): Promise<DemoTenants> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const kid = 'demo';
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' }] };
  const folder = mkdtempSync(join(tmpdir(), 'demo-tenants-'));
  let issuer = '';
  const sign = (tenant: string, subject: string): Promise<string> =>
    new SignJWT({ tenant })
      .setProtectedHeader({ alg: 'EdDSA', kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(subject)
      .setExpirationTime(lifetime)
      .sign(privateKey);
  const server = createServer((request, response) => void answer(request, response, keySet, sign));
  const port = await listenOnLoopback(server);
  issuer = `http://127.0.0.1:${port}`;
  const entries = Object.fromEntries(tenants.map(({ name, entry }) => [name, { key, ...entry }]));
  const upstreamKeys = join(folder, 'keys.json');
  writeFileSync(upstreamKeys, JSON.stringify(entries, null, 2), { mode: 0o600 });
  const tokens = tenants.map(async ({ name, about }) => ({
    tenant: name,
    about,
    token: await sign(name, 'demo-user'),
  }));
  return {
    settings: settingsFor(issuer, upstreamKeys),
    tokens: await Promise.all(tokens),
    tokenUrl: `${issuer}/token`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

function settingsFor(issuer: string, upstreamKeys: string): DemoTenants['settings'] {
  return {
    AUTH: 'jwt',
    JWT_JWKS: `${issuer}/keys`,
    JWT_ISSUER: issuer,
    JWT_AUDIENCE: audience,
    UPSTREAM_KEYS: upstreamKeys,
    CURSOR_SECRET: 'demonstration, known to all',
    // The documents of GraphiQL are written as one goes.
    PERSISTED_DOCUMENTS_MODE: 'allow',
  };
}

function listenOnLoopback(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address.port);
    });
  });
}

async function answer(
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  keySet: object,
  sign: (tenant: string, subject: string) => Promise<string>,
): Promise<void> {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const tenant = searchParams.get('tenant') ?? '';
  const isKnown = tenants.some(({ name }) => name === tenant);
  if (pathname === '/keys') return answerJson(response, keySet);
  if (pathname !== '/token' || !isKnown) return void response.writeHead(404).end();
  answerJson(response, { token: await sign(tenant, searchParams.get('sub') ?? 'demo-user') });
}

function answerJson(response: ServerResponse, body: object): void {
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
