import { usageError } from '../errors.js';

const milliseconds = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `500ms`, `30s`, `10m`, `1h`; a bare number is seconds. Milliseconds. */
export function readDuration(written: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(written.trim());
  const unit = (match?.[2] ?? 's') as keyof typeof milliseconds;
  const value = Number(match?.[1]) * milliseconds[unit];
  if (!Number.isFinite(value) || value > 2 ** 31 - 1)
    throw usageError(`'${written}' is not a duration`, 'Write 500ms, 30s or 10m; a bare number is seconds.');
  return Math.round(value);
}
