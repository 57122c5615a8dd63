const pattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,6}))?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Microseconds since 1970 of an ISO 8601 date or date-time, UTC unless it says otherwise; undefined if it is neither. */
export function toMicroseconds(text: string): number | undefined {
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = pattern.exec(text) ?? [];
  const milliseconds = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(milliseconds) || !isDate(date)
    ? undefined
    : milliseconds * 1000 + Number(fraction.padEnd(6, '0'));
}

/** The 30th of February is no date, though Date.parse takes it. */
function isDate(date: string | undefined): boolean {
  return date !== undefined && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

/** As events tell it: `2024-05-01T10:00:00.123456+00:00`, the fraction absent when zero. */
export function toEventTimestamp(microseconds: number): string {
  const fraction = ((microseconds % 1_000_000) + 1_000_000) % 1_000_000;
  const seconds = new Date((microseconds - fraction) / 1000).toISOString().slice(0, 19);
  return `${seconds}${fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`}+00:00`;
}

/** As every other object tells it: `2024-05-01T10:00:00.123456Z`. */
export function toTimestamp(microseconds: number): string {
  return toEventTimestamp(microseconds).replace('+00:00', 'Z');
}
