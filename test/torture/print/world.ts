import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FakeProject } from '../../support/fake-project.js';
import { type Result, run, testKey } from '../../support/run.js';
import { ours, theirs, type Way } from './ways.js';

/** A machine with two projects and their profiles. */
export class World {
  readonly home = mkdtempSync(join(tmpdir(), 'urtuu-print-'));
  readonly project = new FakeProject({ credits: 1_000_000 });
  /** Whom and what a command reached elsewhere. */
  readonly elsewhere = new FakeProject({ credits: 1_000_000 });
  /** Credits of the job before. */
  spentEarlier = 0;
  readonly #way: Way;

  constructor(way: Way) {
    this.#way = way;
    writeFileSync(join(this.home, 'the key'), testKey);
    this.use(way.current ?? 'home');
    mkdirSync(join(this.home, 'elsewhere'));
  }

  /** `urtuu profiles use`. */
  use(current: string): void {
    const home = { base_url: theirs.baseUrl, api_key: theirs.key };
    const both = { work: { base_url: ours.baseUrl, api_key: ours.key }, home };
    const { config } = this.#way;
    this.#writeConfig('.config', { current, profiles: config === undefined ? both : { home } });
    if (config !== undefined) this.#writeConfig(config, { current, profiles: both });
  }

  #writeConfig(name: string, config: object): void {
    const folder = join(this.home, name, 'urtuu');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  }

  write(name: string, rows: readonly string[]): void {
    writeFileSync(join(this.home, name), `${rows.join('\n')}\n`);
  }

  /** Runs a command as the way leads it to its project and folders. */
  first(words: readonly string[]): Promise<Result> {
    const { env, options = [] } = this.#way;
    const variables = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value.replace('HOME', this.home)]),
    );
    return this.#run([...words, ...options], variables);
  }

  /** In another shell and folder, with another profile in use, and perhaps without the key; null where the shell refuses it. */
  async pasted(line: string, hasKey: boolean): Promise<Result | null> {
    const { URTUU_API_KEY: key } = this.#way.env;
    const kept: Record<string, string> = key === undefined || !hasKey ? {} : { URTUU_API_KEY: key };
    const read = readByShell(line, kept);
    if (read === null) return null;
    this.use('home');
    try {
      return await this.#run(read.words, { ...kept, ...read.variables }, 'elsewhere');
    } finally {
      this.use(this.#way.current ?? 'home');
    }
  }

  #run(argv: string[], env: Record<string, string>, folder = '.'): Promise<Result> {
    return run('', {
      argv,
      env,
      home: this.home,
      cwd: join(this.home, folder),
      fetch: (url, init) => {
        const isOurs = url.startsWith(ours.baseUrl) && init.headers.Authorization === `Bearer ${ours.key}`;
        return (isOurs ? this.project : this.elsewhere).service.fetch(url, init);
      },
    });
  }

  /** Puts numbers in place of the bad cells of a file; a shell that has no key has not written the report. */
  fix(file: string, numbers: readonly string[]): void {
    const path = resolve(this.home, file);
    if (!existsSync(path)) return;
    const left = [...numbers];
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/^nobody/gm, (bad) => left.shift() ?? bad),
    );
  }

  /** Makes the first failed rows of a report bad. */
  blank(report: string, rows: number): void {
    const path = join(this.home, report);
    let left = rows;
    const blanked = readFileSync(path, 'utf8').replace(/^\d{8}(?=.*,failed,)/gm, (number) =>
      left-- > 0 ? 'nobody' : number,
    );
    writeFileSync(path, blanked);
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

const variableNames = ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'URTUU_ALLOW_HTTP'];

/** What a shell makes of a line: the words after `urtuu` and the variables that it sets for it. */
function readByShell(line: string, env: Record<string, string>) {
  const names = variableNames.map((name) => `"$\{${name}-}"`).join(' ');
  const script = `urtuu() { printf '%s\\0' ${names} "$@"; }\n${line}`;
  const { status, stdout } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env });
  if (status !== 0) return null;
  const fields = stdout.split('\0').slice(0, -1);
  const values = fields.slice(0, variableNames.length);
  const set = variableNames
    .map((name, at) => [name, values[at] ?? ''] as const)
    .filter(([, value]) => value !== '');
  return { words: fields.slice(variableNames.length), variables: Object.fromEntries(set) };
}
