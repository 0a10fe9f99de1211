import { execFileSync } from 'node:child_process';
import { root } from '../support/binary.js';
import type { Row } from './pairs.js';

const MB = (bytes: number) => `${(bytes / 1_000_000).toFixed(2)} MB`;

/** What an install takes, by what would be published: code, and beside it docs, man pages, an example and the client's maps. */
export async function size(): Promise<Row[]> {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ unpackedSize, files }] = JSON.parse(packed) as [
    { unpackedSize: number; files: { path: string; size: number }[] },
  ];
  const sizeOf = (of: RegExp) =>
    files.filter(({ path }) => of.test(path)).reduce((sum, file) => sum + file.size, 0);
  const code = sizeOf(/^(?:bin|dist)\/.*(?<!\.map)$/);
  const withoutService = code - sizeOf(/^dist\/(?:service|sandbox)\//);
  return [
    {
      what: 'installed code: client and command; with all of the service',
      against: 'resend-cli 28-32 MB, 20 packages; twilio-cli 176 MB, 476',
      goal: 'under 1 MB, under 2 MB; docs and maps under 1 MB',
      measured: `${MB(withoutService)}, ${MB(code)}; ${MB(unpackedSize - code)} of docs and maps; 1 package`,
      met: withoutService < 1_000_000 && code < 2_000_000 && unpackedSize - code < 1_000_000,
    },
  ];
}
