import { invalid, invalidChoice } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { timeZones } from './time-zones.ts';

/** Longest duration that is stored, in milliseconds: a 32-bit integer. */
const maximumDuration = 2 ** 31 - 1;

/** Throws for settings of a project that are of the right type, but make no sense. Those that are absent or null do. */
export function checkSettings(settings: JsonObject): void {
  const {
    timezone,
    session_recording_sample_rate: rate,
    session_recording_minimum_duration_milliseconds: duration,
  } = settings;
  if (typeof timezone === 'string' && !timeZones.has(timezone)) throw invalidChoice('timezone', timezone);
  if (typeof rate === 'string' && !isShare(rate))
    throw invalid('session_recording_sample_rate', 'Ensure this value is a decimal number from 0 to 1.');
  if (typeof duration === 'number' && (duration < 0 || duration > maximumDuration))
    throw invalid(
      'session_recording_minimum_duration_milliseconds',
      `Ensure this value is from 0 to ${maximumDuration}.`,
    );
}

function isShare(text: string): boolean {
  return /^\d(\.\d{1,6})?$/.test(text) && Number(text) <= 1;
}
