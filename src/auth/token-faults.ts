import { latePackage } from '../late-packages.ts';

/** Messages for claims that do not match a setting or the clock. */
const unfit: Readonly<Record<string, string>> = {
  iss: '`iss` is not JWT_ISSUER',
  aud: '`aud` does not name JWT_AUDIENCE',
  exp: '`exp` has passed',
  nbf: '`nbf` is still to come',
};

/**
 * The reason why a token is not valid, from the error of its verification. It is for the log, and contains only the names
 * of claims.
 */
export function faultOf(error: unknown): string {
  const { errors } = latePackage('jose');
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim, reason } = error;
    if (reason === 'missing') return `it has no \`${claim}\``;
    return reason === 'check_failed' ? (unfit[claim] ?? unusable(claim)) : unusable(claim);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'its signature is not that of the key that it names';
  return 'it is malformed, or the key that it names cannot be used';
}

/** The reason for a token with a claim of the wrong type. */
export function unusable(claim: string): string {
  return `its \`${claim}\` cannot be used: it is of a wrong type, or empty`;
}
