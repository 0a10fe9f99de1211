import { type QuietHours, quietHoursOf, quietZone, spanAt } from '../../quiet/quiet-hours.js';

/** In stored settings, which are compact JSON: in no other place, because quotes in texts have a backslash. */
export const withQuietHours = '"quiet_hours":"';

/** Milliseconds after which a process looks again whether there is anything to send while a project is quiet. */
export const lookAgain = 1_000;

const known = new Map<string, QuietHours | null>();

/** The quiet hours in stored settings. */
export function hoursIn(settings: string): QuietHours | null {
  let hours = known.get(settings);
  if (hours === undefined) {
    hours = quietHoursOf({ quiet_hours: null, quiet_zone: quietZone, ...JSON.parse(settings) });
    if (known.size > 1_000) known.clear();
    known.set(settings, hours);
  }
  return hours;
}

export function isQuietAt(settings: string, now: number): boolean {
  const hours = hoursIn(settings);
  return hours !== null && spanAt(hours, now).isQuiet;
}
