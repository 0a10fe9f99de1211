import { usageError } from '../errors.js';
import type { Column } from './view.js';

/** The value at a dotted path: a text or a number bare, an object or a list as JSON, nothing where there is none. */
export function valueAt(record: object, path: string): string {
  let value: unknown = record;
  for (const name of path.split('.')) {
    const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    value = isInside ? (value as Record<string, unknown>)[name] : null;
  }
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Throws CliError (exit 2) for a path whose first name no result has; `sms.max_parts` is the column sms_max_parts. */
export function checkPath(columns: readonly Column<never>[], path: string): void {
  const [first = ''] = path.split('.');
  const names = columns.map(({ name }) => name);
  if (names.some((name) => name === first || name.startsWith(`${first}_`)) && first !== '') return;
  throw usageError(`unknown field '${first}'`, `The fields are ${names.join(', ')}.`);
}
