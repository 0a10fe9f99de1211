import { InvalidArgumentError } from 'commander';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A point in time: an ISO time, or that many milliseconds ago. */
export type WrittenTime = { at: string } | { ago: number };

/** Reads `90m`, `2h`, `7d` (ago), `2026-11-21`, or an ISO time; without a zone it is local. */
export function readTime(written: string): WrittenTime {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(written.trim()) ?? [];
  if (amount !== undefined) return { ago: Number(amount) * units[unit as keyof typeof units] };
  const at = isoTime(written.trim());
  if (at === null) {
    throw new InvalidArgumentError(
      `'${written}' is not a time: write 2h or 7d for that long ago, 2026-11-21, or 2026-11-21T08:00`,
    );
  }
  return { at };
}

export const timeOf = (time: WrittenTime, now: number): string =>
  'at' in time ? time.at : new Date(now - time.ago).toISOString();

const form = /^(\d{4}-\d\d-(\d\d))(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,3})?(Z|[+-]\d\d:\d\d)?)?$/;

function isoTime(written: string): string | null {
  const [, day, ofMonth, time = '00:00', seconds = ':00', fraction = '', zone = ''] =
    form.exec(written) ?? [];
  const date = new Date(`${day}T${time}${seconds}${fraction}${zone}`);
  // February has no 30th, which JavaScript turns into March.
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(ofMonth);
  return Number.isNaN(date.getTime()) || !isDay ? null : date.toISOString();
}
