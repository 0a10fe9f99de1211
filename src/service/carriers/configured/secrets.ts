import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as z from 'zod/mini';
import { exposedSecret } from '../../../contract/index.js';
import { ConfigurationError, reasonOf } from '../../errors/configuration-error.js';
import type { ConfigurationSource } from './configuration.js';

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
    let exposed: ReturnType<typeof exposedSecret>;
    try {
      secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      exposed = exposedSecret(path, statSync(path), process.getuid?.());
    } catch (error) {
      throw new ConfigurationError(`${field}: cannot read ${path}: ${reasonOf(error as Error)}`, {
        cause: error,
      });
    }
    if (exposed?.isRefused) throw new ConfigurationError(`${field}: ${exposed.problem}. ${exposed.hint}`);
    if (exposed !== null) warn?.(`${exposed.problem}. ${exposed.hint}`);
  }
  if (!/^[\x20-\x7e]+$/.test(secret))
    throw new ConfigurationError(`${field}: is empty or not printable ASCII`);
  return secret;
}
