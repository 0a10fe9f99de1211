import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { root } from '../support/binary.js';

const run = promisify(execFile);

/** Why there is no terminal to play on; null where there is. */
export function noTmux(): string | null {
  if (process.platform === 'win32') return 'Windows has no tmux';
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'tmux is not installed';
  }
}

const patience = 15_000;
const configuration = [
  'set -g remain-on-exit on',
  'set -g remain-on-exit-format ""',
  'set -g status off',
  'set -g history-limit 5000',
  '',
];

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A tmux server of its own, with terminals on which commands run. */
export class Tmux {
  readonly #folder = mkdtempSync(join(tmpdir(), 'urtuu-tmux-'));
  #panes = 0;

  constructor() {
    writeFileSync(join(this.#folder, 'tmux.conf'), configuration.join('\n'));
  }

  async ask(...args: string[]): Promise<string> {
    const common = ['-S', join(this.#folder, 'tmux'), '-f', join(this.#folder, 'tmux.conf')];
    return (await run('tmux', [...common, ...args])).stdout;
  }

  /** Starts a command, with nothing in its environment but what is given and the name of the terminal. */
  async open(
    command: readonly string[],
    env: NodeJS.ProcessEnv,
    { columns = 100, rows = 24 }: { columns?: number; rows?: number } = {},
  ): Promise<Pane> {
    this.#panes += 1;
    const name = `pane-${this.#panes}`;
    const file = join(this.#folder, name);
    const pairs = Object.entries({ TERM: 'tmux-256color', ...env }).map(([key, value]) => `${key}=${value}`);
    await this.ask(
      ...['new-session', '-d', '-s', name, '-x', String(columns), '-y', String(rows), '-c', root],
      ...['env', '-i', ...pairs, process.execPath, join(root, 'test/terminal/launch.js'), file, ...command],
      ...[';', 'pipe-pane', '-t', name, `cat > ${file}.raw`],
    );
    return new Pane(this, name, file);
  }

  async close(): Promise<void> {
    await this.ask('kill-server').catch(() => {});
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One terminal. */
export class Pane {
  readonly #tmux: Tmux;
  readonly #name: string;
  readonly #file: string;

  constructor(tmux: Tmux, name: string, file: string) {
    this.#tmux = tmux;
    this.#name = name;
    this.#file = file;
  }

  /** What is on the screen and above it, without empty lines at the end; `joined` undoes line breaks of the terminal. */
  async screen(lines: 'as shown' | 'joined' = 'as shown'): Promise<string> {
    const joined = lines === 'joined' ? ['-J'] : [];
    return (await this.#tmux.ask('capture-pane', '-p', ...joined, '-S', '-', '-t', this.#name)).trimEnd();
  }

  /** Every byte that came to the terminal. */
  bytes(): string {
    return existsSync(`${this.#file}.raw`) ? readFileSync(`${this.#file}.raw`, 'utf8') : '';
  }

  /** Presses keys by their names in tmux: `y`, `Enter`, `C-c`. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux.ask('send-keys', '-t', this.#name, ...keys);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux.ask('resize-window', '-t', this.#name, '-x', String(columns), '-y', String(rows));
  }

  /** Resolves with the screen when the pattern is on it. */
  async until(pattern: RegExp): Promise<string> {
    for (const end = Date.now() + patience; ; await sleep(60)) {
      const screen = await this.screen();
      if (pattern.test(screen)) return screen;
      if (Date.now() > end) throw new Error(`${pattern} did not come:\n${screen}`);
    }
  }

  /** Resolves when the screen has changed so often, or the command has ended. */
  async changes(count: number): Promise<void> {
    let left = count;
    let last = await this.screen();
    for (const end = Date.now() + patience; left > 0; await sleep(60)) {
      const screen = await this.screen();
      if (screen !== last) left -= 1;
      last = screen;
      if (existsSync(this.#file) || Date.now() > end) return;
    }
  }

  async ended(): Promise<Ended> {
    for (const end = Date.now() + patience; ; await sleep(25)) {
      if (existsSync(this.#file)) return JSON.parse(readFileSync(this.#file, 'utf8')) as Ended;
      if (Date.now() > end) throw new Error(`it does not end:\n${await this.screen()}`);
    }
  }
}
