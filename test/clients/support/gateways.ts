import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMain } from '../../support/process.ts';
import { audience, createSigningKey, issuer, signToken } from '../../support/tokens.ts';

/** Gateways over embedded workspaces, each a process of its own. */
export interface Gateways {
  /** Without a setting. */
  readonly plain: RunningGateway;
  /** With the manifests of all clients. */
  readonly listed: RunningGateway;
  /** With the manifests, and nothing else is run. */
  readonly only: RunningGateway;
  /** Without automatic persisted queries. */
  readonly withoutApq: RunningGateway;
  /** With the manifests, and for tokens: its `key` is one. Nothing else is run, for that is how it is with tokens. */
  readonly tenants: RunningGateway;
  /** The same, for a client whose token has expired. */
  readonly expired: RunningGateway;
}

/** A gateway that listens. */
export interface RunningGateway {
  readonly url: string;
  /** The API key that a client sends as `Authorization: Bearer …`. */
  readonly key: string;
}

const manifests = {
  PERSISTED_DOCUMENTS: 'test/clients/*/{generated/*.json,*.graphql}',
  PERSISTED_DOCUMENTS_STRICT: 'on',
};

/** Starts them side by side. What has been started is disposed with `started`. */
export async function startGateways(started: AsyncDisposableStack): Promise<Gateways> {
  const start = async (settings: Readonly<Record<string, string>>): Promise<RunningGateway> => {
    const running = started.use(runMain([], { PORT: '0', WORKSPACE_PORT: '0', ...settings }));
    const [, url = '', key = ''] = await running.printed(/^Gateway +(\S+)[\s\S]*^Demo key +(\S+)/m);
    return { url, key };
  };
  const [plain, listed, only, withoutApq] = await Promise.all([
    start({}),
    start(manifests),
    start({ ...manifests, PERSISTED_DOCUMENTS_MODE: 'only' }),
    start({ APQ: 'off' }),
  ]);
  const { tenants, expired } = await startForTokens(started);
  return { plain, listed, only, withoutApq, tenants, expired };
}

/** A gateway that holds the key of the embedded workspace for one tenant. */
async function startForTokens(started: AsyncDisposableStack): Promise<Pick<Gateways, 'tenants' | 'expired'>> {
  const folder = started.use(mkdtempDisposableSync(join(tmpdir(), 'clients-')));
  const write = (name: string, content: object): string => {
    const path = join(folder.path, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const signingKey = await createSigningKey('1');
  const entry = { key: 'phx_demo_fernweh_travel', projects: ['1'], mutations: ['updateDashboard'] };
  const settings = {
    ...manifests,
    AUTH: 'jwt',
    JWT_JWKS: write('jwks.json', { keys: [signingKey.jwk] }),
    JWT_ISSUER: issuer,
    JWT_AUDIENCE: audience,
    UPSTREAM_KEYS: write('keys.json', { fernweh: entry }),
    CURSOR_SECRET: '0123456789abcdef',
  };
  const running = started.use(runMain([], { PORT: '0', WORKSPACE_PORT: '0', ...settings }));
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  const token = await signToken(signingKey, 'fernweh');
  const late = await signToken(signingKey, 'fernweh', { claims: { exp: 1 } });
  return { tenants: { url, key: token }, expired: { url, key: late } };
}
