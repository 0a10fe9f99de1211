/** Refuses unknown options: a misspelt `idempotencyKey`, ignored, could send twice. */
export function readRecord<Name extends string>(
  given: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  // A signal passed in place of the options has none of their fields: it would be accepted, and abort nothing.
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof AbortSignal) {
    throw new TypeError('Options must be an object');
  }
  const unknown = Object.keys(given).find((name) => !(names as readonly string[]).includes(name));
  if (unknown === undefined) return given;
  // A longer name may be a secret in the wrong place.
  const shown = /^\w{1,32}$/.test(unknown) ? ` "${unknown}"` : '';
  throw new TypeError(`Unknown option${shown}; valid options: ${names.join(', ')}`);
}

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
