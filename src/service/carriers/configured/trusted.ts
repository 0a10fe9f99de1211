import * as disk from 'node:fs';
import {
  type FileKind,
  readTrustedFile,
  type TrustedFile,
  UnsafeFileError,
} from '../../../contract/index.js';
import { ConfigurationError, reasonOf } from '../../errors/configuration-error.js';

/** Throws ConfigurationError for a file that cannot be read, and for one that others can change. */
export function readTrusted(path: string, kind: FileKind, field = ''): TrustedFile {
  try {
    return readTrustedFile(path, kind, disk, process.getuid?.());
  } catch (error) {
    const problem =
      error instanceof UnsafeFileError
        ? `${error.message}. ${error.hint}`
        : `cannot read ${path}: ${reasonOf(error as Error)}`;
    throw new ConfigurationError(`${field}${problem}`, { cause: error });
  }
}
