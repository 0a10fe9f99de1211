import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Exit } from '../../src/cli/exit.js';
import { run as runMain } from '../../src/cli/main.js';
import type { ProcessEnvironment } from '../../src/cli/process-environment.js';
import type { Questions } from '../../src/cli/terminal/prompts.js';
import type { OutputStream } from '../../src/cli/terminal/streams.js';
import type { Clock } from '../../src/cli/time/clock.js';
import type { FetchLike, FetchRequest } from '../../src/client/index.js';
import type { Service, ServiceOptions } from '../../src/service/index.js';
import { checkPrinted } from './printed-commands.js';
import { errorBody } from './resources.js';

export interface Result {
  code: Exit;
  stdout: string;
  stderr: string;
  /** Milliseconds the command slept, by its clock. */
  slept: number;
}

export interface Setting extends Partial<Omit<ProcessEnvironment, 'stdin' | 'stdout' | 'stderr' | 'clock'>> {
  /** What the clock shows, and what sleeping does besides moving time on. */
  clock?: Partial<Pick<Clock, 'now' | 'sleep'>>;
  /** Standard output and error are terminals of this width, and standard input is one too. */
  terminal?: number;
  stdin?: string | Uint8Array;
  stdout?: OutputStream;
  stderr?: Captured;
  /** Words in place of a line, where quoting would hide what is meant. */
  argv?: string[];
  /** Another build of the command line. */
  main?: typeof runMain;
}

export class Captured implements OutputStream {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  constructor(columns: number | undefined) {
    this.isTTY = columns !== undefined;
    this.columns = columns;
  }
  write(text: string, done?: (error?: Error | null) => void): boolean {
    this.text += text;
    done?.();
    return true;
  }
  on(): this {
    return this;
  }
}

/** A file on a disk without room. */
export const fullOutput = (code = 'ENOSPC'): OutputStream => ({
  write(_, done) {
    done?.(Object.assign(new Error('not written'), { code }));
    return false;
  },
  on() {
    return this;
  },
});

/** A key in the form of the service's, of nobody. */
export const testKey = `urtuu_${'A'.repeat(40)}`;

/** Runs a command line in this process, in an environment of its own, as `main` would. */
export async function run(line: string, setting: Setting = {}): Promise<Result> {
  const {
    terminal,
    stdin = '',
    stdout = new Captured(terminal),
    stderr = new Captured(terminal),
    argv,
    main = runMain,
    clock = {},
    ...given
  } = setting;
  const home = mkdtempSync(join(tmpdir(), 'urtuu-home-'));
  let now = Date.parse('2026-11-21T00:00:00.000Z');
  let slept = 0;
  const alarms = new Set<{ at: number; run: () => void }>();
  const opened: { close(): Promise<void> }[] = [];
  try {
    const code = await main(argv ?? words(line), {
      env: { URTUU_API_KEY: testKey },
      cwd: home,
      home,
      platform: process.platform,
      nodeVersion: process.version,
      clock: {
        now: clock.now ?? (() => now),
        elapsed: () => slept,
        async sleep(milliseconds, signal) {
          await (clock.sleep ?? (() => setImmediate()))(milliseconds, signal);
          signal?.throwIfAborted();
          now += milliseconds;
          slept += milliseconds;
          for (const alarm of alarms) if (alarm.at <= slept && alarms.delete(alarm)) alarm.run();
        },
        after(milliseconds, run) {
          const alarm = { at: slept + milliseconds, run };
          alarms.add(alarm);
          return () => alarms.delete(alarm);
        },
      },
      random: () => 0.5,
      isAtTerminal: () => terminal !== undefined,
      onSignal: () => () => {},
      draw: () => ({ text: '', clear() {}, stop() {} }),
      openService: async (options) => kept(opened, await withoutRates(options)),
      openAdministration: async (options) =>
        kept(opened, await (await loadService()).openAdministration(options)),
      ...given,
      stdin: {
        isTTY: terminal !== undefined,
        async *[Symbol.asyncIterator]() {
          if (stdin.length > 0) yield stdin;
        },
      },
      stdout,
      stderr,
    });
    // A signal ends the process, and all that it has open.
    if (typeof code === 'string') for (const each of opened) await each.close();
    // Every test collects the commands that its lines print. Windows quotes in its own way.
    if (given.platform !== 'win32') await checkPrinted(stderr.text);
    return { code, stdout: stdout instanceof Captured ? stdout.text : '', stderr: stderr.text, slept };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const loadService = () => import('../../src/service/index.js');

function kept<Kept, One extends Kept>(all: Kept[], one: One): One {
  all.push(one);
  return one;
}

/** The clock here is not the service's, so its rate limits would mean real waits. */
async function withoutRates(options: ServiceOptions): Promise<Service> {
  const { createService } = await loadService();
  return createService({ rates: 'off', ...options });
}

/** Splits a line as a shell does, with single and double quotes. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single = '', double = '') => single + double),
  );
}

export interface Request {
  method: string;
  /** Path and query after `/v1`. */
  path: string;
  body: Record<string, unknown> | null;
  headers: Record<string, string>;
  init: FetchRequest;
}
export type Reply = {
  status?: number;
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
  /** The body never comes. */
  hangs?: boolean;
};

export interface FakeService {
  fetch: FetchLike;
  requests: Request[];
}

/** A service that answers as told; an Error is a transport fault. */
export function fakeService(
  answer: (request: Request, index: number) => Reply | Error | Promise<Reply | Error>,
): FakeService {
  const requests: Request[] = [];
  return {
    requests,
    async fetch(url, init) {
      const request = {
        method: init.method,
        path: url.replace(/^.*?\/v1/, ''),
        body: init.body === undefined ? null : JSON.parse(init.body),
        headers: init.headers,
        init,
      };
      requests.push(request);
      const reply = await answer(request, requests.length - 1);
      if (reply instanceof Error) throw reply;
      const { status = 200, body = {}, text = JSON.stringify(body), headers = {} } = reply;
      const known = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      return {
        status,
        headers: { get: (name) => known.get(name.toLowerCase()) ?? null },
        body: (async function* () {
          if (reply.hangs) await new Promise(() => {});
          yield Buffer.from(text);
        })(),
      };
    },
  };
}

/** An error answer of the service. */
export const refusal = (status: number, code: string, extra: object = {}): Reply => ({
  status,
  body: errorBody(code, extra),
});

/** Answers questions in their order; a question too many fails the test. */
export function answers(...given: (string | boolean)[]): Questions & { asked: string[] } {
  const asked: string[] = [];
  const next = async (message: string) => {
    asked.push(message);
    if (given.length === 0) throw new Error(`an unexpected question: ${message}`);
    return given.shift() as never;
  };
  const checked: Questions['text'] = async (message, check) => {
    const value: string = await next(message);
    const verdict = check?.(value) ?? true;
    if (verdict !== true) throw new Error(`refused: ${verdict}`);
    return value;
  };
  return {
    asked,
    text: checked,
    secret: checked,
    confirm: next,
    choose: async (message, choices) => {
      const name = await next(message);
      const choice = choices.find((each) => each.name === name || each.value === name);
      if (choice === undefined) throw new Error(`no choice ${name}`);
      return choice.value;
    },
  };
}
