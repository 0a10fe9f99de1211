import { fill, type Strings } from '../language/language.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Ulaanbaatar is UTC+8 all year. */
const offset = 8 * hour;

/** The beginning of the day in Ulaanbaatar. */
export function startOfDay(now: number): number {
  return Math.floor((now + offset) / day) * day - offset;
}

/** `12,345` */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+(?!\d))/g, ',');
}

/** `+12,345` */
export function signed(number: number): string {
  return number < 0 ? `−${grouped(-number)}` : `+${grouped(number)}`;
}

/** Under a tenth of a percent something is still more than nothing. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.1) return '<0.1%';
  return `${share >= 10 || share === 0 ? Math.round(share) : share.toFixed(1)}%`;
}

/** In one unit: `12 s`, `3 min`. */
export function duration(milliseconds: number, t: Strings): string {
  const [text, unit] =
    milliseconds < minute
      ? [t.seconds, second]
      : milliseconds < hour
        ? [t.minutes, minute]
        : milliseconds < 2 * day
          ? [t.hours, hour]
          : [t.days, day];
  return fill(text, { n: Math.floor(milliseconds / unit) });
}

/** `14:05:09` today, else with the day, and the year where it is another. */
export function clockTime(at: number, now: number, t: Strings): string {
  const local = new Date(at + offset).toISOString();
  const time = local.slice(11, 19);
  if (startOfDay(at) === startOfDay(now)) return time;
  const [year = '', month = '', date = ''] = local.slice(0, 10).split('-');
  const day = fill(t.dayAndMonth, { month: t.months.split(' ')[Number(month) - 1] ?? '', day: Number(date) });
  return year === new Date(now + offset).toISOString().slice(0, 4)
    ? `${day}, ${time.slice(0, 5)}`
    : `${day} ${year}`;
}

/** `14:00` of an hour of the day. */
export const hourOfDay = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
