/** Hours of every day in which no message of a list leaves. */
export interface QuietHours {
  /** Minutes since midnight on a clock on the wall: it is quiet from `from` on, and until `to`. */
  from: number;
  to: number;
  zone: string;
}

/** Of the settings of a project. */
export interface QuietSettings {
  quiet_hours: string | null;
  quiet_zone: string;
}

/** The quiet or open time around a moment; it begins at `since` and is over at `until`. */
export interface Span {
  isQuiet: boolean;
  since: number;
  until: number;
}

/** The zone of a project that names none. */
export const quietZone = 'Asia/Ulaanbaatar';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
/** A message waits for that many nights at most. */
const mostNights = 30;

const form = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

/** Null for another form, or if both ends are the same. */
export function parseHours(text: string): { from: number; to: number } | null {
  const [, ...parts] = form.exec(text) ?? [];
  if (parts.length === 0) return null;
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = parts.map(Number);
  const hours = { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute };
  return hours.from === hours.to ? null : hours;
}

/** Null if a project has none. */
export function quietHoursOf({ quiet_hours, quiet_zone: zone }: QuietSettings): QuietHours | null {
  const hours = quiet_hours === null ? null : parseHours(quiet_hours);
  return hours && { ...hours, zone };
}

/**
 * The span around `now` (ms). The hours are those of a clock on the wall in the zone, whatever it does in the night when
 * it is changed: an hour that it shows twice is quiet twice, and one that it leaves out is not waited for.
 */
export function spanAt(hours: QuietHours, now: number): Span {
  const key = `${hours.from} ${hours.to} ${hours.zone}`;
  const known = spans.get(key);
  if (known !== undefined && known.since <= now && now < known.until) return known;
  let since = now - day;
  let until = nextTurn(hours, since);
  while (until <= now) {
    since = until;
    until = nextTurn(hours, since);
  }
  const span = { isQuiet: isQuiet(hours, wallAt(hours.zone, now)), since, until };
  if (spans.size > mostKnown) spans.clear();
  spans.set(key, span);
  return span;
}

/** When a project's night is over. */
export interface Night {
  until: number;
  /** The same on a clock on the wall: `08:00`. */
  clock: string;
  zone: string;
}

/** Null while it is not quiet. */
export function nightAt(settings: QuietSettings, now: number): Night | null {
  const hours = quietHoursOf(settings);
  const { isQuiet, until } = hours === null ? { isQuiet: false, until: 0 } : spanAt(hours, now);
  if (hours === null || !isQuiet) return null;
  return { until, clock: wallTime(hours.zone, until), zone: hours.zone };
}

/** Milliseconds from `now` until so many milliseconds have passed that are not quiet. */
export function untilOpenFor(hours: QuietHours, now: number, milliseconds: number): number {
  let { isQuiet: isNight, until } = spanAt(hours, now);
  let at = now;
  let left = milliseconds;
  for (let nights = 0; nights <= mostNights; ) {
    if (!isNight && at + left <= until) return at + left - now;
    if (isNight) nights += 1;
    else left -= until - at;
    at = until;
    until = nextTurn(hours, at);
    isNight = !isNight;
  }
  return at - now;
}

/** What a clock on the wall shows: `08:00`. */
export function wallTime(zone: string, at: number): string {
  const minutes = Math.floor(wallAt(zone, at) / minute);
  return [Math.floor(minutes / 60), minutes % 60].map((each) => String(each).padStart(2, '0')).join(':');
}

/** Whether it is a zone with a name, as all Node.js releases know them. */
export function isZone(zone: string): boolean {
  try {
    newFormat(zone);
    return /^[a-z]/i.test(zone);
  } catch {
    return false;
  }
}

/** `wall`: milliseconds since midnight. */
function isQuiet({ from, to }: QuietHours, wall: number): boolean {
  const isFrom = wall >= from * minute;
  const isBefore = wall < to * minute;
  return from < to ? isFrom && isBefore : isFrom || isBefore;
}

/** The first moment after `from` at which it is quiet and was not, or the reverse. */
function nextTurn(hours: QuietHours, from: number): number {
  const { zone } = hours;
  for (let at = from; ; ) {
    const wall = wallAt(zone, at);
    const isNight = isQuiet(hours, wall);
    const end = (isNight ? hours.to : hours.from) * minute;
    const next = at + ofDay(end - wall);
    const shift = shiftBetween(zone, at, next);
    if (shift === null) return next;
    if (isQuiet(hours, wallAt(zone, shift)) !== isNight) return shift;
    at = shift;
  }
}

/** When the clock of a zone is changed between two moments; null if it is not. */
function shiftBetween(zone: string, after: number, until: number): number | null {
  const before = offsetOf(zone, after);
  if (offsetOf(zone, until) === before) return null;
  let [early, late] = [Math.floor(after / second), Math.ceil(until / second)];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (offsetOf(zone, middle * second) === before) early = middle;
    else late = middle;
  }
  return late * second;
}

function wallAt(zone: string, at: number): number {
  return ofDay(at + offsetOf(zone, at));
}

const ofDay = (milliseconds: number) => ((milliseconds % day) + day) % day;

/** Milliseconds by which the clock of a zone is ahead of UTC. */
function offsetOf(zone: string, at: number): number {
  const whole = Math.floor(at / second) * second;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(whole)) parts[type] = Number(value);
  const { year = 0, month = 1, day: date = 1, hour = 0, minute: minutes = 0, second: seconds = 0 } = parts;
  return Date.UTC(year, month - 1, date, hour, minutes, seconds) - whole;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** By hours and zone: they are computed twice a day, not for every message. */
const spans = new Map<string, Span>();
const mostKnown = 1_000;

/** A zone that only the Node.js of another instance knows must not stop this one: the default one counts here. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = newFormat(isZone(zone) ? zone : quietZone);
    formats.set(zone, format);
  }
  return format;
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  const digits = 'numeric' as const;
  const date = { year: digits, month: digits, day: digits };
  return new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', ...date, hour: digits, minute: digits, second: digits },
  });
}
