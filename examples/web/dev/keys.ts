/**
 * Makes the key pair of the dev server's sign-in: it signs tokens with one half, the gateway verifies them with the other. A
 * pair that is there is kept, so that users who have signed in stay so when the gateway is started again.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

const folder = new URL('keys/', import.meta.url);
const file = new URL('private.json', folder);
mkdirSync(folder, { recursive: true });
if (!existsSync(file)) await makeKey();
const { d: _secret, ...publicKey }: JWK = JSON.parse(readFileSync(file, 'utf8'));
writeFileSync(new URL('public.json', folder), JSON.stringify({ keys: [publicKey] }));

async function makeKey(): Promise<void> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: 'dev', alg: 'EdDSA', use: 'sig' };
  writeFileSync(file, JSON.stringify(key), { mode: 0o600 });
}
