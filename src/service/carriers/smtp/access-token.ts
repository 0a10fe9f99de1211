import { execFile } from 'node:child_process';

/** Milliseconds that the command may take: a login may take 60 s. */
const commandMs = 30_000;
/** Milliseconds before its end at which a token is not used any more: relays refuse one that ends soon. */
const closesBefore = 60_000;
const mostBytes = 100_000;
/** Milliseconds after the command's end in which its output arrives: what it leaves running may keep that open. */
const lingerMs = 200;

interface Known {
  token: string;
  /** On the monotonic clock; without one it is used until it is refused. */
  until: number;
}

/** The access token of a mailbox (XOAUTH2), from a command of its owner, which is run again once it has ended. */
export class AccessToken {
  readonly #command: readonly [string, ...string[]];
  #known: Known | null = null;
  #running: Promise<Known> | null = null;

  /** The program and its arguments, which no shell reads. */
  constructor(command: readonly [string, ...string[]]) {
    this.#command = command;
  }

  /** `isKept`: it was used before. Never shows what the command prints. */
  async get(now: number): Promise<{ token: string; isKept: boolean }> {
    if (this.#known !== null && now < this.#known.until) return { token: this.#known.token, isKept: true };
    this.#running ??= this.#run(now).finally(() => {
      this.#running = null;
    });
    this.#known = await this.#running;
    return { token: this.#known.token, isKept: false };
  }

  /** A relay refuses it. */
  drop(token: string): void {
    if (this.#known?.token === token) this.#known = null;
  }

  #run(now: number): Promise<Known> {
    const [file, ...args] = this.#command;
    const options = { timeout: commandMs, killSignal: 'SIGKILL', maxBuffer: mostBytes } as const;
    return new Promise((resolve, reject) => {
      const fail = (problem: string) => reject(new Error(`the command of email.token, ${file}, ${problem}`));
      const child = execFile(file, args, options, (error, stdout) => {
        // The error has the output, and what it prints on standard error may have secrets.
        if (typeof error?.code === 'string') return fail(`cannot be run: ${error.code}`);
        if (error?.killed) return fail(`did not end within ${commandMs / 1_000} s`);
        if (error) return fail(`failed with ${error.code ?? error.signal}. Run it by hand to see why`);
        const read = readToken(stdout.trim(), now);
        if (read === null) return fail('printed no access token');
        resolve(read);
      });
      const close = () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      };
      child.once('exit', () => setTimeout(close, lingerMs).unref());
      // A command that reads its input would wait for it.
      child.stdin?.on('error', () => {}).end();
    });
  }
}

/** The token alone in the first line, or the answer of a token endpoint (RFC 6749, 5.1). */
function readToken(output: string, now: number): Known | null {
  let token: unknown = output.split('\n', 1)[0]?.trim();
  let seconds: unknown;
  if (output.startsWith('{')) {
    try {
      ({ access_token: token, expires_in: seconds } = JSON.parse(output));
    } catch {
      return null;
    }
  }
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) return null;
  const lifeMs = Number(seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  return { token, until: Number.isNaN(lifeMs) ? now : now + lifeMs - closesBefore };
}
