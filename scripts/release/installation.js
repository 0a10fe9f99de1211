import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systems } from './executable.js';
import { fetchNode } from './node.js';

/** Where the shells of Debian and Homebrew look, below /usr and another prefix. */
const completions = {
  bash: 'share/bash-completion/completions/urtuu',
  zsh: 'share/zsh/site-functions/_urtuu',
  fish: 'share/fish/vendor_completions.d/urtuu.fish',
  powershell: 'share/powershell/urtuu.ps1',
};
/** Nothing is left in the home of who makes a release. */
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
const documents = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'THIRD-PARTY-LICENSES.txt'];

/** Writes what comes with the command, as it lies below a prefix such as /usr; a system needs its own shells only. */
export function writeInstallation(prefix, system) {
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  const put = (name, text) => {
    mkdirSync(dirname(join(prefix, name)), { recursive: true });
    writeFileSync(join(prefix, name), text);
  };
  const isWindows = system.startsWith('win');
  for (const [shell, file] of Object.entries(completions))
    if ((shell === 'powershell') === isWindows)
      put(file, execFileSync(process.execPath, ['bin/urtuu.js', 'completion', shell], { env }));
  for (const page of isWindows ? [] : readdirSync('man'))
    put(`share/man/man${page.at(-1)}/${page}`, readFileSync(join('man', page)));
  for (const name of documents) put(`share/doc/urtuu/${name}`, readFileSync(name));
  cpSync('docs', join(prefix, 'share/doc/urtuu/docs'), { recursive: true });
  // The packages for Windows are without the licence, which is the same.
  copyFileSync(
    join(fetchNode(systems['linux-x64']), 'LICENSE'),
    join(prefix, 'share/doc/urtuu/NODE-LICENSE.txt'),
  );
}
