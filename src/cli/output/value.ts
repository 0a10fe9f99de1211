import { usageError } from '../errors.js';
import type { Column } from './view.js';

/** The value at a dotted path: texts and numbers bare, objects and lists as JSON, nothing if there is none. */
export function valueAt(record: object, path: string): string {
  let value: unknown = record;
  for (const name of Object.hasOwn(record, path) ? [path] : path.split('.')) {
    const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    value = isInside ? (value as Record<string, unknown>)[name] : null;
  }
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Throws CliError (exit 2) for a path that no result has. Anything below a column is allowed. A group of columns is
 * named by their common prefix, as in JSON: `sms.max_parts` is the column `sms_max_parts`, `sms.max_parts` or
 * `max_parts`.
 */
export function checkPath(columns: readonly Column<never>[], path: string): void {
  const [first = '', ...rest] = path.split('.');
  const names = columns.map(({ name }) => name);
  if (first !== '' && names.includes(first)) return;
  const written = names.map((name) => name.replaceAll('.', '_'));
  const group = `${first}_`;
  const whole = path.replaceAll('.', '_');
  const isGroup = first !== '' && written.some((name) => name.startsWith(group));
  const isInside = (name: string) =>
    name === whole || name.startsWith(`${whole}_`) || name === rest.join('_');
  if (isGroup && written.some(isInside)) return;
  throw usageError(`unknown field '${isGroup ? path : first}'`, `The fields are ${names.join(', ')}.`);
}
