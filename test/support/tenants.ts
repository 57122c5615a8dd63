import { readTenants } from '../../src/auth/tenants-file.ts';
import { changeable } from '../../src/follow.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { mutationNames } from '../../src/resolvers/resolvers.ts';
import type { Tenants } from '../../src/rest/tenants.ts';
import type { ServerOptions } from '../../src/server/server.ts';
import { startOver } from './both.ts';
import type { GateOptions } from './gate.ts';
import { type Answer, type Request, startGateway, type TestGateway } from './gateway.ts';
import { createFolder } from './persisted.ts';
import type { Handler, Routes } from './routes.ts';
import { audience, createSigningKey, issuer, type SigningKey, signToken, type TokenParts } from './tokens.ts';
import type { Upstream } from './upstream.ts';

/** The entry of a tenant in a file of upstream keys. */
export interface Entry {
  readonly key: string;
  readonly projects?: readonly string[];
  readonly organizations?: readonly string[];
  readonly mutations?: boolean | readonly string[];
  readonly roles?: Readonly<Record<string, RoleEntry>>;
}

/** The rights of a role in a tenant's entry. */
export type RoleEntry = Omit<Entry, 'key' | 'roles'> & { readonly documents?: readonly string[] };

/** The entries of a file of upstream keys. */
export type Entries = Readonly<Record<string, Entry>>;

/** The tenants that a file with these entries has. */
export function tenantsOf(entries: Entries): Tenants {
  using folder = createFolder();
  return readTenants({ path: folder.write('keys.json', entries), environment: {}, mutationNames, hasRoles: true })
    .tenants;
}

/** A gateway that holds the keys of tenants. */
export interface TenantGateway extends TestGateway {
  readonly signingKey: SigningKey;
  /** Asks as a user of a tenant, `acme`, or as one with roles, `acme viewer editor`. */
  askAs(user: string, query: string, request?: Request): Promise<Answer>;
  /** The headers of a request with a token. */
  headersOf(user: string, parts?: TokenParts): Promise<Readonly<Record<string, string>>>;
  take(entries: Entries): void;
}

/** Made once: every gateway of a test file may have the same provider. */
const onlyKey = createSigningKey('key-1');

/** Good for a day: a token is signed once, and the long form of a test takes more than five minutes. */
function lasting(): TokenParts {
  return { claims: { exp: Math.floor(Date.now() / 1000) + 86_400 } };
}

/** Starts a gateway that holds the keys of these tenants. */
export async function startTenants(
  upstream: { readonly url: string },
  entries: Entries,
  options: Partial<GatewayOptions> = {},
  serverOptions: Partial<ServerOptions> = {},
): Promise<TenantGateway> {
  const signingKey = await onlyKey;
  const folder = createFolder();
  const keySet = folder.write('jwks.json', { keys: [signingKey.jwk] });
  const rules = { issuer, audience, tenantClaim: 'tenant', rolesClaim: 'roles' };
  const auth = { rules, keySet, route: {} };
  const tenants = changeable(tenantsOf(entries));
  const gateway = await startGateway(upstream, { auth, tenants, ...options }, serverOptions);
  const tokens = new Map<string, Promise<string>>();
  const headersOf: TenantGateway['headersOf'] = async (user, parts) => {
    const known = parts === undefined ? tokens.get(user) : undefined;
    const [tenant = '', ...roles] = user.split(' ');
    const { claims, ...others } = parts ?? lasting();
    const token = known ?? signToken(signingKey, tenant, { ...others, claims: { roles: roles.join(' '), ...claims } });
    if (parts === undefined) tokens.set(user, token);
    return { authorization: `Bearer ${await token}` };
  };
  return {
    ...gateway,
    signingKey,
    headersOf,
    askAs: async (user, query, request) =>
      gateway.ask(query, { ...request, headers: { ...request?.headers, ...(await headersOf(user)) } }),
    take: (others) => tenants.change(tenantsOf(others)),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Starts a gateway for tenants, over an upstream with these routes, for one test: both stop when it has ended. */
export function startBothTenants(
  routes: Routes | Handler,
  entries: Entries,
  options: Partial<GatewayOptions> = {},
  gate: GateOptions = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: TenantGateway }> {
  return startOver(routes, (upstream) => startTenants(upstream, entries, options), gate);
}
