import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { importJWK, type JWK, SignJWT } from 'jose';
import type { Plugin, ProxyOptions } from 'vite';

/** The claims of a token about its user. */
interface Claims {
  readonly tenant: string;
  readonly roles: readonly string[];
}

/** Who may sign in, of which tenant they are, and with which roles. */
const users: ReadonlyMap<string, Claims> = new Map([
  ['ada', { tenant: 'travel', roles: ['editor'] }],
  ['vera', { tenant: 'travel', roles: ['viewer'] }],
  ['bruno', { tenant: 'partners', roles: [] }],
]);

// As dev/gateway.env has them.
const issuer = 'http://127.0.0.1:5173';
const audience = 'workspace-web';

const lifetime = '8h';

/** Scripts of the page cannot read it, and no other site's page can have it sent. */
const cookie = 'HttpOnly; SameSite=Strict; Path=/';

/**
 * Stands for an identity provider, and for the server of yours that asks it for tokens: lets anyone in as one of three users,
 * and keeps the token in a cookie.
 */
export function signIn(): Plugin {
  return {
    name: 'sign-in',
    configureServer: ({ middlewares }) => {
      middlewares.use('/login', (request, response) => void logIn(request, response));
      middlewares.use('/logout', (_request, response) => redirect(response, `token=; Max-Age=0; ${cookie}`));
    },
  };
}

/** Sends requests on to the gateway, with the token of the user, or with `apiKey` to one that takes keys. */
export function proxyTo(target: string, apiKey: string | undefined): ProxyOptions {
  return {
    target,
    configure: (proxy) => {
      proxy.on('proxyReq', (sent, { headers }) => {
        const token = apiKey ?? /(?:^|; )token=([\w.-]+)/.exec(headers.cookie ?? '')?.[1];
        sent.removeHeader('cookie');
        if (token !== undefined) sent.setHeader('authorization', `Bearer ${token}`);
      });
      // If the gateway breaks a stream off, the page has to notice, so that it connects again.
      proxy.on('proxyRes', (received, _request, response) => {
        received.on('close', () => {
          if (!received.complete) response.destroy();
        });
      });
    },
  };
}

/** Never rejects. Without the keys, which the script `gateway` makes, there is nothing to sign a token with. */
async function logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const user = new URLSearchParams(request.method === 'POST' ? await text(request) : '').get('user') ?? '';
    const claims = users.get(user);
    if (claims === undefined) return void response.writeHead(400).end();
    redirect(response, `token=${await tokenOf(user, claims)}; ${cookie}`);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

async function tokenOf(user: string, claims: Claims): Promise<string> {
  const key: JWK = JSON.parse(readFileSync(new URL('keys/private.json', import.meta.url), 'utf8'));
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'dev' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user)
    .setExpirationTime(lifetime)
    .sign(await importJWK(key));
}

/** To the page, which asks again with what the cookie holds now. */
function redirect(response: ServerResponse, setCookie: string): void {
  response.writeHead(303, { location: '/', 'set-cookie': setCookie }).end();
}
