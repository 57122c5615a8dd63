import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const { PORT = '4444' } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
const { publicKey, privateKey } = await generateKeyPair('ES256');
const keys = [{ ...(await exportJWK(publicKey)), kid: 'first', alg: 'ES256', use: 'sig' }];

/** The claim `tenant` names an entry of UPSTREAM_KEYS. Yours comes from the account of the user who has signed in. */
const tokenOf = (tenant) =>
  new SignJWT({ tenant })
    .setProtectedHeader({ alg: 'ES256', kid: 'first' })
    .setIssuer(issuer)
    .setAudience('workspace-gateway')
    .setSubject('ada')
    .setExpirationTime('1h')
    .sign(privateKey);

createServer(({ url }, response) => {
  const { pathname, searchParams } = new URL(url, issuer);
  if (pathname === '/keys') response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  else void tokenOf(searchParams.get('tenant')).then((token) => response.end(token));
}).listen(PORT, '127.0.0.1', () => console.log(`Provider   ${issuer}`));
