import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fetchNode } from './node.js';

/** Its name stands in the executable, and in stack traces. */
const main = 'start.cjs';
/** Folders of dist with bundles; the executable has them all. */
const folders = ['cli', 'client', 'mail', 'sandbox', 'service'];
const { systems, builders } = JSON.parse(readFileSync(join(import.meta.dirname, 'nodes.json'), 'utf8'));
/** An executable is made by the version of Node.js that is in it; this machine runs the one of linux-x64. */
const builderOf = (version) =>
  version === systems['linux-x64'].version ? systems['linux-x64'] : builders[version];

export { systems };

export const nodeOf = (system) => fetchNode(systems[system]);

/** Writes the command for a system as one file that has Node.js in it. */
export function writeExecutable(system, output) {
  const { version } = systems[system];
  const builder = join(fetchNode(builderOf(version)), 'bin/node');
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-executable-'));
  try {
    const parts = ['dist/cli/start.cjs', join(import.meta.dirname, 'executable-main.cjs')];
    writeFileSync(join(folder, main), parts.map((file) => readFileSync(file, 'utf8')).join('\n'));
    const config = {
      main,
      output: resolve(output),
      executable: join(nodeOf(system), system.startsWith('win') ? 'bin/node.exe' : 'bin/node'),
      assets: Object.fromEntries(folders.flatMap(bundlesIn)),
      // Of 4 kB it saves nothing, and two builds would differ; the bundles have a cache of their own.
      useCodeCache: false,
      disableExperimentalSEAWarning: true,
    };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    // It prints the name of what it made.
    const stdio = ['ignore', 'ignore', 'inherit'];
    execFileSync(builder, ['--build-sea', 'config.json'], { cwd: folder, stdio });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const bundlesIn = (folder) =>
  readdirSync(join('dist', folder))
    .filter((name) => name.endsWith('.cjs'))
    .sort()
    .map((name) => [`${folder}/${name}`, resolve('dist', folder, name)]);
