import { createServer, type ServerResponse } from 'node:http';
import { CompactSign, exportJWK, generateKeyPair, type JSONWebKeySet } from 'jose';
import { listen } from './listen.ts';

/** The algorithms that tokens may be signed with. */
export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

/** A key pair of an identity provider. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: Algorithm;
  readonly privateKey: CryptoKey;
  /** The public key as a key set has it. */
  readonly jwk: JSONWebKeySet['keys'][number];
}

/** The issuer of tokens, unless a test names another. */
export const issuer = 'https://issuer.test/';
/** The audience of tokens, unless a test names another. */
export const audience = 'gateway';

/** Makes a key pair. */
export async function createSigningKey(kid: string, alg: Algorithm = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Differences of a token from an ordinary one; a claim or a header that is undefined is left out. */
export interface TokenParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** Signs a token of `tenant` for the user `user-1`, good for five minutes. */
export function signToken(key: SigningKey, tenant: string, { claims, header }: TokenParts = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: issuer, aud: audience, sub: 'user-1', exp: now + 300, tenant, ...claims };
  return new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
}

/** An identity provider on loopback. */
export interface Provider extends AsyncDisposable {
  readonly url: string;
  /** The number of times that the set was asked for. */
  readonly asked: number;
  serve(...keys: readonly SigningKey[]): void;
  /** Answers so from now on; a function that does not end the answer keeps the client waiting. */
  answerWith(answer: (response: ServerResponse) => void): void;
}

/** Starts an identity provider. */
export async function startProvider(...keys: readonly SigningKey[]): Promise<Provider> {
  let answer = answerOf(keys);
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    answer(response);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/keys`,
    get asked() {
      return asked;
    },
    serve: (...others) => {
      answer = answerOf(others);
    },
    answerWith: (other) => {
      answer = other;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerOf(keys: readonly SigningKey[]): (response: ServerResponse) => void {
  return (response) => answerJson(response, { keys: keys.map(({ jwk }) => jwk) });
}

/** Answers a JSON document. */
export function answerJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
