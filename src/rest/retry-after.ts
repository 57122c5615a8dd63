/** The longest wait that is believed, in seconds. A longer one is taken for a mistake of the upstream. */
const maximumRetryAfter = 3600;

/**
 * Seconds to wait from a `Retry-After` header (seconds or an HTTP date, RFC 9110 §10.2.3), at most an hour. A date is
 * on the sender's clock, which its `Date` header shows.
 */
export function retryAfterSeconds(header: string | undefined, date?: string, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const sentAt = timeOf(date ?? '');
  const from = Number.isNaN(sentAt) ? now : sentAt;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : Math.ceil((timeOf(text) - from) / 1000);
  if (!Number.isFinite(seconds)) return undefined;
  return Math.min(Math.max(seconds, 0), maximumRetryAfter);
}

/** `Date.parse` alone takes `in 5 minutes` for a day in May 2001, so the text has to begin like an HTTP date. */
function timeOf(text: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}
