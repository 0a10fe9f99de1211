import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
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
  return readSmallFile(path, what, hint, (bytes, stats) => {
    const exposed = exposedSecret(path, stats, process.getuid?.());
    if (exposed?.isRefused)
      throw new CliError('unsafe_secret', exits.machine, exposed.problem, { hint: exposed.hint });
    return { bytes, warning: exposed && `${exposed.problem}. ${exposed.hint}` };
  });
}

const mostBytes = 1_000_000;

/** Throws CliError for a file that cannot be read, with the hint: also for one that has no end, or waits for a writer. */
export function readSmallFile<Read>(
  path: string,
  what: string,
  hint: string,
  use: (bytes: Buffer, stats: Stats) => Read,
): Read {
  let file: number | undefined;
  try {
    // Windows has no O_NONBLOCK.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    const problem = stats.isFile() ? `it has over ${mostBytes} bytes` : 'it is not a regular file';
    if (!stats.isDirectory() && (!stats.isFile() || stats.size > mostBytes))
      throw new CliError('unreadable', exits.machine, `cannot read ${what}${path}: ${problem}`, { hint });
    return use(readFileSync(file), stats);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw machineError(`cannot read ${what}${path}: ${code}`, error, hint);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
