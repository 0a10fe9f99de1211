/** Throws TypeError for unknown options: a misspelt `idempotencyKey`, ignored, could send twice. */
export function readRecord<Name extends string>(
  given: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  // A signal passed in place of the options has none of their fields: it would be accepted, and abort nothing.
  if (typeof given !== 'object' || given === null || Array.isArray(given) || 'aborted' in given) {
    throw new TypeError('Options must be an object');
  }
  const unknown = Object.keys(given).find((name) => !(names as readonly string[]).includes(name));
  if (unknown === undefined) return given;
  // A longer name may be a secret in the wrong place.
  const shown = /^\w{1,32}$/.test(unknown) ? ` "${unknown}"` : '';
  throw new TypeError(`Unknown option${shown}; valid options: ${names.join(', ')}`);
}
