/** ISO 8601, UTC, with milliseconds, of milliseconds since 1970. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
