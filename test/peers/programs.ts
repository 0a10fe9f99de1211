import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

/** Fails where a program of a Debian package is missing. */
export function needProgram(path: string, debianPackage: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new Error(`${path} is missing: apt-get install ${debianPackage}`);
  }
}

/** Of the Python that Debian's packages are for. */
export const python = '/usr/bin/python3';

export function needPythonModule(name: string, debianPackage: string): void {
  needProgram(python, 'python3');
  if (spawnSync(python, ['-c', `import ${name}`]).status !== 0)
    throw new Error(`the Python module ${name} is missing: apt-get install ${debianPackage}`);
}

export function needPerlModule(name: string, debianPackage: string): void {
  if (spawnSync('perl', [`-M${name}`, '-e', '1']).status !== 0)
    throw new Error(`the Perl module ${name} is missing: apt-get install ${debianPackage}`);
}

/** Packages of npm in a folder of their own: they are no dependencies of this one, and run no script. */
export function installPackages(folder: string, ...packages: string[]): void {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  execFileSync('npm', ['install', ...options, ...packages], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
