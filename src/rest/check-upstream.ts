import { type FailureReason, meaningOf, reasonOf } from './failure-reasons.ts';
import { wantsCertificate } from './failures.ts';
import type { Line } from './resilience/job.ts';
import { decodeBody, textOf } from './transport/decode.ts';
import type { RawResponse } from './transport/transport.ts';

/** How long the upstream has to answer, in milliseconds. */
const checkMs = 5000;

const path = '/api/projects/';

/**
 * Asks the upstream for its projects once, without a key, and tells the line's watch what came. Any answer of the API
 * will do, a refusal too. Resolves to a phrase for people; never rejects.
 */
export async function checkUpstream(line: Line, prefix: string): Promise<string> {
  const reason = await askOnce(line, prefix);
  if (reason === undefined) {
    line.reachability.answered();
    return 'answers';
  }
  line.reachability.failedFor(reason);
  return `${reason}: ${meaningOf(reason)}`;
}

/** Why the API did not answer; undefined if it did. */
function askOnce({ transport, maxBodyBytes }: Line, prefix: string): Promise<FailureReason | undefined> {
  const { promise, resolve } = Promise.withResolvers<FailureReason | undefined>();
  const headers = { accept: 'application/json', 'accept-encoding': 'gzip, deflate, br' };
  const abort = transport.send({ method: 'GET', target: `${prefix}${path}?limit=1`, headers }, (error, answer) => {
    clearTimeout(timer);
    if (answer === undefined) resolve(reasonOf(error) ?? 'OTHER');
    else resolve(judge(answer, maxBodyBytes));
  });
  const timer = setTimeout(() => {
    resolve('TIMEOUT');
    abort();
  }, checkMs);
  return promise;
}

async function judge(
  { status, headers, body, release }: RawResponse,
  maxBodyBytes: number,
): Promise<FailureReason | undefined> {
  release();
  if (status === 404) return 'WRONG_PATH';
  if (status === 407) return 'PROXY_AUTHENTICATION_REQUIRED';
  if (status >= 500) return 'SERVER_ERROR';
  if (status >= 300 && status < 400) return 'REDIRECTED';
  let text = '';
  try {
    const coding = headers['content-encoding'];
    text = coding === undefined ? textOf(body) : await decodeBody(body, coding, maxBodyBytes);
    JSON.parse(text);
    return undefined;
  } catch {
    return wantsCertificate(status, text) ? 'CLIENT_CERTIFICATE_REFUSED' : 'NOT_THE_API';
  }
}
