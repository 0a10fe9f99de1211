import * as disk from 'node:fs';
import {
  exposureOf,
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

/** Throws ConfigurationError for a program that is not there, and for one that others can change. */
export function checkTrusted(path: string, field: string): void {
  let stats: disk.Stats;
  try {
    stats = disk.statSync(path);
  } catch (error) {
    throw new ConfigurationError(`${field}cannot read ${path}: ${reasonOf(error as Error)}`, {
      cause: error,
    });
  }
  const exposure = exposureOf(path, 'public', stats, process.getuid?.());
  if (exposure?.isRefused) throw new ConfigurationError(`${field}${exposure.problem}. ${exposure.hint}`);
}
