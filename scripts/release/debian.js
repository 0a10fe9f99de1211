import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { normalize } from './archive.js';

/** Debian's names. */
export const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

/** Of /usr. Nothing is run when it is installed or removed, and nothing of it is a configuration file. */
const moved = [
  ['share/zsh/site-functions', 'share/zsh/vendor-completions'],
  ['share/doc/urtuu/LICENSE', 'share/doc/urtuu/copyright'],
];

/** Writes the Debian package of an installation, and returns its name. */
export function writeDebianPackage(prefix, output, { system, version, author, time }) {
  const architecture = architectures[system];
  const name = `urtuu_${version}_${architecture}.deb`;
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-debian-'));
  try {
    const usr = join(folder, 'usr');
    cpSync(prefix, usr, { recursive: true });
    for (const [from, to] of moved) renameSync(join(usr, from), join(usr, to));
    const manual = join(usr, 'share/man');
    for (const page of normalize(manual, time).filter((file) => /\.\d$/.test(file))) {
      writeFileSync(`${page}.gz`, gzipSync(readFileSync(page), { level: 9 }));
      rmSync(page);
    }
    const unit = readFileSync('deploy/urtuu.service', 'utf8').replace(/^#.*install -m 644 .*\n/m, '');
    put(join(usr, 'lib/systemd/system/urtuu.service'), unit.replaceAll('/usr/local/bin/', '/usr/bin/'));
    put(join(folder, 'DEBIAN/control'), controlOf(version, architecture, author));
    normalize(folder, time);
    const words = [
      '--root-owner-group',
      '-Zxz',
      '-z3',
      '--threads-max=1',
      '--build',
      folder,
      resolve(output, name),
    ];
    execFileSync('dpkg-deb', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(folder, { recursive: true });
  }
  return name;
}

function put(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const controlOf = (version, architecture, author) => `Package: urtuu
Version: ${version}
Architecture: ${architecture}
Maintainer: ${author}
Section: net
Priority: optional
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1, libatomic1
Recommends: bash-completion
Description: send SMS and email from the command line
 One message, or one to every row of a CSV file or an Excel workbook: an
 interrupted job resumes and sends nothing twice. With a service of its own, a
 sandbox for tests, and Node.js in the one executable.
`;
