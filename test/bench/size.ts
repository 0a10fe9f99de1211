import { execFileSync } from 'node:child_process';
import { root } from '../support/binary.js';
import type { Row } from './pairs.js';

const MB = (bytes: number) => `${(bytes / 1_000_000).toFixed(2)} MB`;

/** What an install takes, by what would be published. */
export async function size(): Promise<Row[]> {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ unpackedSize, files }] = JSON.parse(packed) as [
    { unpackedSize: number; files: { path: string; size: number }[] },
  ];
  const service = files
    .filter(({ path }) => /^dist\/(?:service|sandbox)\//.test(path))
    .reduce((sum, file) => sum + file.size, 0);
  return [
    {
      what: 'installed size: client and command; with all of the service',
      against: 'resend-cli 28-32 MB, 20 packages; twilio-cli 176 MB, 476',
      goal: 'under 1 MB, under 2 MB',
      measured: `${MB(unpackedSize - service)}, ${MB(unpackedSize)}; 1 package`,
      met: unpackedSize - service < 1_000_000 && unpackedSize < 2_000_000,
    },
  ];
}
