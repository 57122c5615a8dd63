import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { answerHeaders } from '../http/response.ts';

export interface DemoTenants {
  /** The settings with which a gateway accepts the tokens. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * A token of each user, which is valid for eight hours. `user` is the tenant and the role of the user, and `about`
   * says what the user may do.
   */
  readonly tokens: readonly { readonly user: string; readonly about: string; readonly token: string }[];
  /** The URL that answers with another token: `GET ?tenant=NAME&role=ROLE&sub=USER`. */
  readonly tokenUrl: string;
  readonly close: () => Promise<void>;
}

const audience = 'workspace-gateway';
const lifetime = '8h';

/** Two tenants that share one key of the embedded workspace. The users of one of them have roles. */
const tenants: Readonly<Record<string, object>> = {
  north: {
    projects: ['1', '2'],
    mutations: ['createDashboard', 'updateDashboard'],
    roles: { editor: { mutations: true }, viewer: {} },
  },
  south: { projects: ['3'] },
};

/** The users whose tokens are printed. GraphiQL uses the token of the first. */
const users = [
  { tenant: 'north', role: 'editor', about: 'projects 1 and 2; may create and change dashboards' },
  { tenant: 'north', role: 'viewer', about: 'the same projects; reads only' },
  { tenant: 'south', role: undefined, about: 'project 3; reads only' },
] as const;

type Sign = (tenant: string, role: string | undefined, subject: string) => Promise<string>;

/**
 * Starts an identity provider for demonstrations. It listens on this machine only, because it gives a token to anyone
 * who asks. The key that signs tokens is made anew at each start. `key` is the personal API key that the tenants share.
 */
export async function startDemoTenants(key: string): Promise<DemoTenants> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const kid = 'demo';
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' }] };
  const folder = mkdtempSync(join(tmpdir(), 'demo-tenants-'));
  let issuer = '';
  const sign: Sign = (tenant, role, subject) =>
    new SignJWT({ tenant, roles: role?.split(' ') ?? [] })
      .setProtectedHeader({ alg: 'EdDSA', kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(subject)
      .setExpirationTime(lifetime)
      .sign(privateKey);
  const server = createServer((request, response) => void answer(request, response, keySet, sign));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a server that listens on a port');
  issuer = `http://127.0.0.1:${address.port}`;
  const entries = Object.fromEntries(Object.entries(tenants).map(([name, entry]) => [name, { key, ...entry }]));
  const upstreamKeys = join(folder, 'keys.json');
  writeFileSync(upstreamKeys, JSON.stringify(entries, null, 2), { mode: 0o600 });
  const tokens = users.map(async ({ tenant, role, about }) => ({
    user: role === undefined ? tenant : `${tenant}, ${role}`,
    about,
    token: await sign(tenant, role, `demo-${role ?? 'user'}`),
  }));
  return {
    settings: {
      AUTH: 'jwt',
      JWT_JWKS: `${issuer}/keys`,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: audience,
      JWT_ROLES_CLAIM: 'roles',
      UPSTREAM_KEYS: upstreamKeys,
      CURSOR_SECRET: 'demonstration, known to all',
      // A document that a user writes in GraphiQL is in no manifest.
      PERSISTED_DOCUMENTS_MODE: 'allow',
    },
    tokens: await Promise.all(tokens),
    tokenUrl: `${issuer}/token`,
    close: async () => {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

async function answer(
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  keySet: object,
  sign: Sign,
): Promise<void> {
  // Some targets are no URL, such as `//`.
  const { pathname, searchParams } = URL.parse(url, 'http://127.0.0.1') ?? new URL('http://127.0.0.1');
  const tenant = searchParams.get('tenant') ?? '';
  if (pathname === '/keys') return answerJson(response, keySet);
  if (pathname !== '/token' || !Object.hasOwn(tenants, tenant)) return void response.writeHead(404).end();
  const role = searchParams.get('role') ?? users.find((user) => user.tenant === tenant)?.role;
  answerJson(response, { token: await sign(tenant, role, searchParams.get('sub') ?? 'demo-user') });
}

function answerJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json', ...answerHeaders }).end(JSON.stringify(body));
}
