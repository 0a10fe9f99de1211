import { dirname, resolve } from 'node:path';
import * as z from 'zod/mini';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { rule } from '../../parse-fields.js';
import type { ConfigurationSource } from './configuration.js';
import { checkTrusted, readTrusted } from './trusted.js';

/** A secret is never in the file itself. */
export type WrittenSecret = { env: string } | { file: string };

export const writtenSecret = z.custom<WrittenSecret>(
  (value) => {
    if (typeof value !== 'object' || value === null) return false;
    const entries = Object.entries(value);
    const [name, source] = entries[0] ?? [];
    return entries.length === 1 && (name === 'env' || name === 'file') && typeof source === 'string';
  },
  { error: 'must be {"env": "<variable>"} or {"file": "<path>"}' },
);

/** A program and its arguments. */
export const writtenCommand = z
  .array(z.string().check(rule((text) => /^[^\0]+$/.test(text), 'must be a program or an argument')))
  .check(z.minLength(1));

/**
 * The command of a field, which others cannot change. Paths are relative to the configuration; a name without a slash is
 * looked for in PATH.
 */
export function trustedCommand(
  [program = '', ...args]: readonly string[],
  field: string,
  { file }: ConfigurationSource,
): [string, ...string[]] {
  if (!/[/\\]/.test(program)) return [program, ...args];
  const path = resolve(dirname(file), program);
  checkTrusted(path, `${field}: `);
  return [path, ...args];
}

/** The secret of a field. Paths are relative to the configuration; a newline at the end of the file is ignored. */
export function readSecret(
  written: WrittenSecret,
  field: string,
  { file, environment, warn }: ConfigurationSource,
): string {
  let secret: string | undefined;
  if ('env' in written) {
    secret = environment[written.env];
    if (secret === undefined)
      throw new ConfigurationError(`${field}: the variable ${written.env} is not set`);
  } else {
    const path = resolve(dirname(file), written.file);
    const { bytes, warning } = readTrusted(path, 'secret', `${field}: `);
    secret = Buffer.from(bytes)
      .toString('utf8')
      .replace(/\r?\n$/, '');
    if (warning !== null) warn?.(warning);
  }
  if (!/^[\x20-\x7e]+$/.test(secret))
    throw new ConfigurationError(`${field}: is empty or not printable ASCII`);
  return secret;
}
