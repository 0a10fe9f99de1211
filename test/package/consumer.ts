import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const root = resolve(import.meta.dirname, '../..');
const fixtures = join(import.meta.dirname, 'fixtures');

/** The Node.js that uses the package; `npm run test:nodes` sets each in turn. */
const node = process.env.URTUU_TEST_NODE ?? process.execPath;

export interface Tarball {
  file: string;
  content: Uint8Array;
  files: { path: string; size: number }[];
  unpackedSize: number;
}

/** A folder outside the repository that has installed the packed package, without network and without a cache. */
export class Consumer {
  readonly folder = mkdtempSync(join(tmpdir(), 'urtuu-consumer-'));
  readonly nodePath = node;
  readonly #cache = mkdtempSync(join(tmpdir(), 'urtuu-empty-cache-'));

  async pack(): Promise<Tarball> {
    const { stdout } = await this.#npm(root, [
      'pack',
      '--json',
      '--ignore-scripts',
      '--pack-destination',
      this.#cache,
    ]);
    const [packed] = JSON.parse(stdout);
    const file = join(this.#cache, packed.filename);
    return { file, content: readFileSync(file), files: packed.files, unpackedSize: packed.unpackedSize };
  }

  async install(tarball: Tarball): Promise<void> {
    writeFileSync(join(this.folder, 'package.json'), '{ "name": "consumer", "private": true }');
    await this.#npm(this.folder, ['install', '--offline', tarball.file]);
    cpSync(fixtures, this.folder, { recursive: true });
  }

  /** Path of the command. */
  async installGlobally(tarball: Tarball): Promise<string> {
    const prefix = join(this.folder, 'prefix');
    await this.#npm(this.folder, ['install', '--global', '--offline', '--prefix', prefix, tarball.file]);
    return join(prefix, process.platform === 'win32' ? 'urtuu.cmd' : 'bin/urtuu');
  }

  /** As npm would with network. */
  addEngine(): void {
    for (const name of ['@photostructure/sqlite', 'node-gyp-build']) {
      cpSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name), { recursive: true });
    }
  }

  async node(...args: string[]): Promise<string> {
    return (await this.run(node, args)).stdout;
  }

  /** Runs a program in the folder, in an environment of its own. */
  run(file: string, args: string[], extra: NodeJS.ProcessEnv = { HOME: this.home() }) {
    const path = [dirname(node), process.env.PATH].join(delimiter);
    return run(file, args, { cwd: this.folder, env: { PATH: path, ...extra } });
  }

  home(): string {
    const home = join(this.folder, 'home');
    mkdirSync(home, { recursive: true });
    return home;
  }

  remove(): void {
    for (const folder of [this.folder, this.#cache]) rmSync(folder, { recursive: true, force: true });
  }

  #npm(cwd: string, args: string[]) {
    const env = { ...process.env, npm_config_cache: this.#cache, npm_config_loglevel: 'error' };
    return run('npm', [...args, '--no-audit', '--no-fund'], {
      cwd,
      env,
      shell: process.platform === 'win32',
    });
  }
}
