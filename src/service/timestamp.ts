interface Written {
  at: number;
  text: string;
}

// The messages of a group share few times, and each time is written more than once.
let last: Written = { at: 0, text: '1970-01-01T00:00:00.000Z' };
let lastButOne = last;

/** Milliseconds since 1970 as ISO 8601, UTC, with milliseconds. */
export function timestamp(milliseconds: number): string {
  if (milliseconds === lastButOne.at) return lastButOne.text;
  if (milliseconds !== last.at) {
    lastButOne = last;
    last = { at: milliseconds, text: new Date(milliseconds).toISOString() };
  }
  return last.text;
}
