/** 1,250,000, for people; numbers in machine formats stay plain. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 recipient`, `2,600 recipients`, `2 batches`. */
export function counted(count: number, one: string): string {
  if (count === 1) return `1 ${one}`;
  return `${grouped(count)} ${one}${/(?:ch|s)$/.test(one) ? 'es' : 's'}`;
}

/** `22 s`, `14 min`, `1.5 h` */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
