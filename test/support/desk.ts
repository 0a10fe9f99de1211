import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeProject, type ProjectOptions } from './fake-project.js';
import { type Result, run, type Setting } from './run.js';

/** A machine whose home outlives single commands, with a project. */
export class Desk {
  readonly home = mkdtempSync(join(tmpdir(), 'urtuu-desk-'));
  readonly project: FakeProject;

  constructor(options: ProjectOptions = {}) {
    this.project = new FakeProject(options);
  }

  run(line: string, setting: Setting = {}): Promise<Result> {
    const { fetch } = this.project.service;
    return run(line, { home: this.home, cwd: this.home, fetch, ...setting });
  }

  write(name: string, rows: readonly string[]): void {
    writeFileSync(join(this.home, name), `${rows.join('\n')}\n`);
  }

  /** The profiles of this machine. */
  writeConfig(text: string): void {
    const folder = join(this.home, '.config/urtuu');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
  }

  read(name: string): string {
    return readFileSync(join(this.home, name), 'utf8');
  }

  get jobs(): string[] {
    return readdirSync(join(this.home, '.local/state/urtuu/jobs'));
  }

  jobFile(job: string, name: string): string {
    return join(this.home, '.local/state/urtuu/jobs', job, name);
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
