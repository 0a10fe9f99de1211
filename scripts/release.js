// Fills release/ with what is published, on Linux: npm run release. URTUU_DOWNLOADS is the address that the installers and the
// formula download from. Two runs of one commit with one address write the same bytes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeArchive } from './release/archive.js';
import { checksum, writeChecksums } from './release/checksums.js';
import { architectures, writeDebianPackage } from './release/debian.js';
import { systems, writeExecutable } from './release/executable.js';
import { writeInstallation } from './release/installation.js';
import { writeInstallers } from './release/installers.js';
import { writePackage } from './release/package.js';
import { writeSbom } from './release/sbom.js';

const { version, author } = JSON.parse(readFileSync('package.json', 'utf8'));
const downloads = process.env.URTUU_DOWNLOADS || null;
const lastCommit = () => execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).trim();
// Read by dpkg-deb too.
process.env.SOURCE_DATE_EPOCH ??= lastCommit();
const time = Number(process.env.SOURCE_DATE_EPOCH);

rmSync('release', { recursive: true, force: true });
mkdirSync('release');
const made = [writePackage('release')];
const archives = {};
const folder = mkdtempSync(join(tmpdir(), 'urtuu-release-'));
try {
  for (const system of Object.keys(systems)) {
    const name = `urtuu-${version}-${system}`;
    const prefix = join(folder, name);
    const command = join(prefix, 'bin', system.startsWith('win') ? 'urtuu.exe' : 'urtuu');
    writeInstallation(prefix, system);
    writeExecutable(system, command);
    archives[system] = writeArchive(prefix, 'release', time);
    made.push(archives[system]);
    if (system in architectures)
      made.push(writeDebianPackage(prefix, 'release', { system, version, author, time }));
    rmSync(prefix, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true });
}
const checksums = Object.fromEntries(
  Object.entries(archives).map(([system, name]) => [system, checksum(join('release', name))]),
);
made.push(...writeInstallers('release', { version, checksums, downloads }));
made.push(writeSbom('release', { version, time, files: [...made] }));
made.push(writeChecksums('release', made));

for (const name of made) {
  const { size } = statSync(join('release', name));
  process.stdout.write(`${(size / 1e6).toFixed(1).padStart(6)} MB  release/${name}\n`);
}
if (downloads === null)
  process.stdout.write('Without URTUU_DOWNLOADS the installers need --from, and the formula is left out.\n');
if (!author.includes('@'))
  process.stdout.write(
    'The Debian packages name no address of a maintainer: "author" in package.json has none.\n',
  );
