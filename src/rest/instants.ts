const dateTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d{1,9}))?(?:(Z)|([+-]\d\d):?(\d\d))?$/i;

/** `text` sorts in the order of time, to the nanosecond, and `utc` is the form for a URL. */
interface Instant {
  readonly text: string;
  readonly utc: string;
}

/** The moment of a date-time. Without a zone it is in UTC, as everywhere in this API. */
function toInstant(time: unknown): Instant | undefined {
  const match = typeof time === 'string' ? dateTime.exec(time) : null;
  if (match === null) return undefined;
  const [given, date = '', minutes = '', seconds = ':00', fraction = '', zulu, hours = '+00', rest = '00'] = match;
  const milliseconds = Date.parse(`${date}T${minutes}${seconds}${hours}:${rest}`);
  if (Number.isNaN(milliseconds)) return undefined;
  const whole = new Date(milliseconds).toISOString().slice(0, 19);
  const utc = zulu !== undefined || given.endsWith('+00:00') ? given : `${whole}${fraction && `.${fraction}`}Z`;
  return { text: `${whole}.${fraction.padEnd(9, '0')}`, utc };
}

/** True if a date-time comes after another, however they are spelt; false if one of them is no date-time. */
export function isLater(time: unknown, other: unknown): boolean {
  const [one, two] = [toInstant(time), toInstant(other)];
  return one !== undefined && two !== undefined && one.text > two.text;
}

/** True if two date-times are the same moment, however they are spelt; false if one of them is no date-time. */
export function isSameInstant(time: unknown, other: unknown): boolean {
  const one = toInstant(time);
  return one !== undefined && (time === other || one.text === toInstant(other)?.text);
}

/** A date-time in UTC, for a URL; undefined for anything else. A text that says that it is UTC stays unchanged. */
export function inUtc(time: unknown): string | undefined {
  return toInstant(time)?.utc;
}

/** The next whole second after a date-time, in UTC. It is later even for an upstream that ignores fractions. */
export function secondAfter(time: unknown): string | undefined {
  const moment = sortableMoment(time);
  return moment === undefined ? undefined : wholeSecond(secondsBefore(moment, -1));
}

/** A text that sorts as moments do, in UTC and to the nanosecond; undefined for what is no date-time. */
export function sortableMoment(time: unknown): string | undefined {
  return toInstant(time)?.text;
}

/** The sortable moment that is this many seconds before `moment`. */
export function secondsBefore(moment: string, seconds: number): string {
  const whole = new Date(Date.parse(`${moment.slice(0, 19)}Z`) - seconds * 1000).toISOString();
  return whole.slice(0, 19) + moment.slice(19);
}

/** A sortable moment without its fraction of a second, in the form that a query takes. */
export function wholeSecond(moment: string): string {
  return `${moment.slice(0, 19)}Z`;
}
