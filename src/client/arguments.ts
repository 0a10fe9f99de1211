import { readRecord } from '../contract/index.js';

export function readTimeout(value: unknown): number {
  return readNumber(value, (number) => number > 0, 'timeout must be a number of milliseconds over 0');
}

export function readMaxRetries(value: unknown): number {
  return readNumber(
    value,
    (number) => Number.isInteger(number) && number >= 0,
    'maxRetries must be a whole number, 0 or more',
  );
}

function readNumber(value: unknown, isValid: (value: number) => boolean, rule: string): number {
  if (typeof value !== 'number') throw new TypeError(rule);
  if (!Number.isFinite(value) || !isValid(value)) throw new RangeError(rule);
  return value;
}

/** Encodes an id as one segment of a path. Errors do not repeat it: it may be a secret in the wrong place. */
export function segment(id: unknown): string {
  if (typeof id !== 'string') throw new TypeError('The id must be a string');
  // A URL parser resolves `.` and `..`, which would request another route.
  if (id === '' || id === '.' || id === '..') throw new RangeError('The id must not be empty, "." or ".."');
  try {
    return encodeURIComponent(id);
  } catch {
    throw new RangeError('The id must be well-formed Unicode');
  }
}

/** `?name=value&...` of the given fields; empty if there are none. */
export function queryOf<Name extends string>(given: unknown, names: readonly Name[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(readRecord(given, names))) {
    if (value === undefined) continue;
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new TypeError(`${name} must be a ${name === 'limit' ? 'number' : 'string'}`);
    }
    query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}
