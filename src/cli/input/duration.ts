import { InvalidArgumentError } from 'commander';

const milliseconds = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `500ms`, `30s`, `10m`, `1h` or seconds, as milliseconds. Throws commander's InvalidArgumentError. */
export function readDuration(written: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(written.trim());
  const unit = (match?.[2] ?? 's') as keyof typeof milliseconds;
  const value = Number(match?.[1]) * milliseconds[unit];
  if (!Number.isFinite(value) || value > 2 ** 31 - 1)
    throw new InvalidArgumentError(
      `'${written}' is not a duration: write 500ms, 30s or 10m; a bare number is seconds`,
    );
  return Math.round(value);
}

/** Writes milliseconds as a duration for a command line: `10m`. */
export function writtenDuration(duration: number): string {
  if (duration === 0) return '0s';
  const [unit, size] = Object.entries(milliseconds).findLast(([, each]) => duration % each === 0) ?? [
    'ms',
    1,
  ];
  return `${duration / size}${unit}`;
}
