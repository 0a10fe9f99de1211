import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Machine, root } from '../support/binary.js';

/** Pseudoterminals; null where there is no prebuilt one for this machine. */
export const pty = pseudoterminals();

function pseudoterminals(): typeof import('@lydell/node-pty') | null {
  try {
    return createRequire(join(root, 'package.json'))('@lydell/node-pty');
  } catch {
    return null;
  }
}

/** The real command. */
export const shipped: readonly string[] = [process.execPath, join(root, 'bin/urtuu.js')];

/** What a process on a terminal ended with. */
export interface Ending {
  code: number;
  signal: NodeJS.Signals | null;
  /** All that was written to the terminal, escape sequences left out. */
  screen: string;
}

/** The real command on a real terminal, and a person's hands. */
export class Terminal {
  readonly ended: Promise<Ending>;
  readonly pid: number;
  readonly #process: import('@lydell/node-pty').IPty;
  readonly #waiting = new Set<() => void>();
  raw = '';
  #over = false;

  constructor(
    machine: Pick<Machine, 'home' | 'environment'>,
    args: string[],
    options: { columns?: number; env?: NodeJS.ProcessEnv; program?: readonly string[] } = {},
  ) {
    if (pty === null) throw new Error('there are no pseudoterminals here');
    const { columns = 80, env = {}, program = shipped } = options;
    const [file = '', ...words] = [...program, ...args];
    this.#process = pty.spawn(file, words, {
      name: 'xterm-256color',
      cols: columns,
      rows: 30,
      cwd: machine.home,
      env: machine.environment({ TERM: 'xterm-256color', ...env }),
    });
    this.pid = this.#process.pid;
    this.#process.onData((data) => {
      this.raw += data;
      for (const look of this.#waiting) look();
    });
    this.ended = new Promise((settle) => {
      this.#process.onExit(({ exitCode, signal }) => {
        this.#over = true;
        for (const look of this.#waiting) look();
        settle({ code: exitCode, signal: nameOf(signal), screen: this.screen });
      });
    });
  }

  get screen(): string {
    return stripVTControlCharacters(this.raw).replaceAll('\r\n', '\n');
  }

  /** Waits until the terminal shows it. */
  shows(pattern: RegExp): Promise<void> {
    return new Promise((settle, fail) => {
      const look = () => {
        const found = pattern.test(this.screen);
        if (!found && !this.#over) return;
        this.#waiting.delete(look);
        if (found) settle();
        else fail(new Error(`it ended before it showed ${pattern}: ${this.screen}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  type(keys: string): void {
    this.#process.write(keys);
  }

  close(): void {
    if (!this.#over) this.#process.kill('SIGKILL');
  }
}

function nameOf(signal: number | undefined): NodeJS.Signals | null {
  const found = Object.entries(constants.signals).find(([, number]) => number === signal);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}
