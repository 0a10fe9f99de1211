import * as disk from 'node:fs';
import {
  type FileKind,
  readTrustedFile,
  type TrustedFile,
  UnsafeFileError,
} from '../../../contract/index.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';

/** Throws CliError for a file that cannot be read, with the hint, and for one that others can change. */
export function readFileOf(
  kind: FileKind,
  path: string,
  what: string,
  hint: string,
): TrustedFile & { bytes: Buffer } {
  try {
    const { bytes, ...file } = readTrustedFile(path, kind, disk, process.getuid?.());
    return { ...file, bytes: Buffer.from(bytes.buffer) };
  } catch (error) {
    if (error instanceof UnsafeFileError)
      throw new CliError('unsafe_secret', exits.machine, error.message, { hint: error.hint });
    const { code, message } = error as NodeJS.ErrnoException;
    throw machineError(`cannot read ${what}${path}: ${code ?? message}`, error, hint);
  }
}
