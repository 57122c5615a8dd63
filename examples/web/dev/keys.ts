/** Makes the key pair of the dev server's sign-in: it signs tokens with one half, the gateway verifies them with the other. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair } from 'jose';

const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
const names = { kid: 'dev', alg: 'EdDSA', use: 'sig' };
const folder = new URL('keys/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(
  new URL('public.json', folder),
  JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), ...names }] }),
);
writeFileSync(new URL('private.json', folder), JSON.stringify({ ...(await exportJWK(privateKey)), ...names }), {
  mode: 0o600,
});
