import { usageError } from '../errors.js';
import type { Column } from './view.js';

/** The value at a dotted path: a text or a number bare, an object or a list as JSON, nothing where there is none. */
export function valueAt(record: object, path: string): string {
  let value: unknown = record;
  for (const name of Object.hasOwn(record, path) ? [path] : path.split('.')) {
    const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    value = isInside ? (value as Record<string, unknown>)[name] : null;
  }
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Throws CliError (exit 2) for a path whose first name no result has; `sms.max_parts` is the column sms_max_parts or itself. */
export function checkPath(columns: readonly Column<never>[], path: string): void {
  const [first = ''] = path.split('.');
  const names = columns.map(({ name }) => name);
  const isInside = (name: string) => name.startsWith(first) && /^[._]/.test(name.slice(first.length));
  if (first !== '' && names.some((name) => name === first || isInside(name))) return;
  throw usageError(`unknown field '${first}'`, `The fields are ${names.join(', ')}.`);
}
