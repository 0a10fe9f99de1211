import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { exposedSecret } from '../../../contract/index.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';

export interface SecretFile {
  bytes: Buffer;
  /** Others can read it; null if not. */
  warning: string | null;
}

/** Throws CliError for a file that cannot be read, with the hint, and for one that others can change. */
export function readSecretFile(path: string, what: string, hint: string): SecretFile {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const exposed = exposedSecret(path, fstatSync(file), process.getuid?.());
    if (exposed?.isRefused)
      throw new CliError('unsafe_secret', exits.machine, exposed.problem, { hint: exposed.hint });
    return { bytes: readFileSync(file), warning: exposed && `${exposed.problem}. ${exposed.hint}` };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw machineError(`cannot read ${what}${path}: ${code}`, error, hint);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
