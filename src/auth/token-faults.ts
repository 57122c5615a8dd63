import { errors } from 'jose';

/** What the claims that are compared with a setting or the clock say if they do not fit. */
const unfit: Readonly<Record<string, string>> = {
  iss: '`iss` is not JWT_ISSUER',
  aud: '`aud` does not name JWT_AUDIENCE',
  exp: '`exp` has passed',
  nbf: '`nbf` is still to come',
};

/** Why a token is not valid, from what its verification threw; for the log: of the token it has names of claims only. */
export function faultOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim, reason } = error;
    if (reason === 'missing') return `it has no \`${claim}\``;
    return reason === 'check_failed' ? (unfit[claim] ?? unusable(claim)) : unusable(claim);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'its signature is not that of the key that it names';
  return 'it is malformed, or the key that it names cannot be used';
}

/** Why a token is not valid whose claim has a value of a wrong type. */
export function unusable(claim: string): string {
  return `its \`${claim}\` cannot be used: it is of a wrong type, or empty`;
}
