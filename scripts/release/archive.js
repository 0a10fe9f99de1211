import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, utimesSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Writes the archive of a folder, for Windows as .zip, and returns its name. */
export function writeArchive(prefix, output, time) {
  const name = basename(prefix);
  const files = normalize(prefix, time).map((file) => file.slice(dirname(prefix).length + 1));
  const isZip = name.includes('-win-');
  const archive = `${name}${isZip ? '.zip' : '.tar.xz'}`;
  const options = {
    cwd: dirname(prefix),
    input: files.join('\n'),
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
  };
  if (isZip) execFileSync('zip', ['-q', '-X', '-9', resolve(output, archive), '-@'], options);
  else {
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--format=ustar', `--mtime=@${time}`];
    const words = ['-cf', resolve(output, archive), '--no-recursion', ...owner, '-T', '-'];
    // One thread: with more, xz writes blocks, of another size on another machine.
    execFileSync('tar', ['--use-compress-program=xz -3 --threads=1', ...words], options);
  }
  return archive;
}

/** Gives all files one time and the usual modes; returns them in order. */
export function normalize(path, time) {
  const isFolder = lstatSync(path).isDirectory();
  const below = isFolder
    ? readdirSync(path)
        .sort()
        .flatMap((name) => normalize(join(path, name), time))
    : [];
  chmodSync(path, isFolder || basename(dirname(path)) === 'bin' ? 0o755 : 0o644);
  utimesSync(path, time, time);
  return [path, ...below];
}
