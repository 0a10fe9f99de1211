import { createHmac, randomBytes } from 'node:crypto';
import { appendFileSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canonicalBaseUrl } from '../../contract/index.js';
import type { Context } from '../context.js';
import { makeFolder } from '../platform/make-folder.js';
import { writePrivateFile } from '../platform/write-private-file.js';

/** The send to which a replay under a key belongs. */
export type Replayed =
  /** The same message, sent earlier. */
  | 'same'
  /** Another message; this one was not sent. */
  | 'other'
  /** Unknown to this machine, or this command's own first attempt. */
  | 'unknown'
  /** Another message or this one: both may have been sent. */
  | 'either';

/** Its channel, and its fields as they are sent. */
export type KeyedMessage = readonly [channel: string, fields: { readonly to: string }];

/** Null if this machine cannot remember the key, which must not stop a send. */
export async function rememberKey(
  { options, io, config }: Pick<Context, 'options' | 'io' | 'config'>,
  key: string,
  messages: readonly KeyedMessage[],
): Promise<UsedKey | null> {
  const onFailure = (error: unknown) => {
    if (options.verbose) io.note(`cannot remember the key: ${(error as Error).message}`);
  };
  const service = config.sandbox ? 'sandbox' : canonicalBaseUrl((await config.settings()).baseUrl);
  try {
    return await useKey(join(config.stateDirectory, 'used-keys'), { service, key, messages, onFailure });
  } catch (error) {
    onFailure(error);
    return null;
  }
}

interface Use {
  service: string;
  key: string;
  /** The message, and as earlier releases sent it. */
  messages: readonly KeyedMessage[];
  /** Called when the file cannot be written any more. */
  onFailure?(error: unknown): void;
}

/**
 * Uses a key for a message. The file says which message each key given by hand was used for, whichever API key it was
 * sent with: a service answers a repeat with another text as if all were well. Only hashes are stored. A line is
 * `? key message` before a request, `= key message id` when it was accepted, `- key message` when it certainly was
 * not. It is not a record: damage loses some lines and nothing else. Null if it is of a later version.
 */
export async function useKey(file: string, use: Use): Promise<UsedKey | null> {
  const opened = await openFile(file);
  return opened === null ? null : new UsedKey(file, opened, use);
}

const headerForm = /^urtuu used-keys (\d+) ([0-9a-f]{32})$/;
const lineForm = /^([?=-])((?: [0-9a-f]{32}){2,4})$/;
/** About 500 kB; the older half is deleted when there are more. */
const mostLines = 5_000;
const mostBytes = 1_000_000;

interface OpenedFile {
  salt: string;
  lines: readonly string[];
}

/** Null if it cannot be used. */
async function openFile(file: string): Promise<OpenedFile | null> {
  const text = textOf(file);
  const [header = '', ...lines] = (text ?? '').split('\n');
  const [, version, known] = headerForm.exec(header) ?? [];
  if (version !== undefined && version !== '1') return null;
  const salt = known ?? randomBytes(16).toString('hex');
  const of = (kept: readonly string[]) =>
    `${[`urtuu used-keys 1 ${salt}`, ...kept.filter(Boolean)].join('\n')}\n`;
  if (text === null) {
    makeFolder(dirname(file));
    try {
      writeFileSync(file, of([]), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // Another process is creating it with its own salt.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return openFile(file);
      throw error;
    }
  } else if (known === undefined) await writePrivateFile(file, of([]));
  else if (lines.length > mostLines) await writePrivateFile(file, of(lines.slice(-mostLines / 2)));
  // Ends an incomplete line.
  else if (lines.at(-1) !== '') appendFileSync(file, '\n');
  return { salt, lines: known === undefined ? [] : lines };
}

/** Null if there is no file. Another program's file, or one that is too large, counts as damaged. */
function textOf(file: string): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isFile() && stats.size <= mostBytes ? readFileSync(file, 'utf8') : '';
}

/** The use of a key for a message, from before the request until its answer. */
export class UsedKey {
  readonly #file: string;
  readonly #salt: string;
  readonly #key: string;
  /** In all its readings; the first one is of now. */
  readonly #messages: readonly string[];
  readonly #onFailure: (error: unknown) => void;
  readonly #before: readonly string[];
  /** The readings that are noted as sent, without an answer. */
  #opened: readonly string[];
  /** Whether an earlier command sent the message under the key and got no answer. */
  readonly isOpen: boolean;

  constructor(
    file: string,
    { salt, lines }: OpenedFile,
    { service, key, messages, onFailure = () => {} }: Use,
  ) {
    this.#file = file;
    this.#salt = salt;
    this.#key = this.#hash(['shared', service, key]);
    this.#messages = [...new Set(messages.map((message) => this.#hash(message)))];
    this.#onFailure = onFailure;
    this.#before = lines;
    const { open } = this.#uses(lines);
    this.#opened = this.#messages.filter((message) => open.has(message));
    this.isOpen = this.#opened.length > 0;
    if (this.isOpen) return;
    this.#opened = this.#messages.slice(0, 1);
    this.#write('?');
  }

  accepted(id: string): void {
    this.#note('=', ` ${this.#hash(['id', id])}`);
  }

  /** Call if it was certainly not sent, by any command. */
  resolved(): void {
    this.#note('-');
  }

  /** Call if it was certainly not sent by this command. A send of an earlier command stays open. */
  notSent(): void {
    if (!this.isOpen) this.#note('-');
  }

  /**
   * The send to which a replay belongs: the one accepted under its id, else one that is open. `repeated`: whether this
   * command sent more than one request, so that the first of them is open too.
   */
  replayed(id: string, repeated: boolean): Replayed {
    const { accepted, unnamed, open } = this.#uses(
      [...this.#before, ...this.#linesNow()],
      this.#hash(['id', id]),
    );
    const isKnown = accepted.size > 0;
    const isMine = isKnown ? this.#isIn(accepted) : this.isOpen || this.#isIn(unnamed);
    const possible = [accepted, unnamed, open].find(({ size }) => size > 0) ?? [];
    const isOfOthers = [...possible].some((message) => !this.#messages.includes(message));
    if (!isOfOthers) return isMine ? 'same' : 'unknown';
    return isMine || (repeated && !isKnown) ? 'either' : 'other';
  }

  #isIn(messages: ReadonlySet<string>): boolean {
    return this.#messages.some((message) => messages.has(message));
  }

  /** The messages that the key was used for: accepted under this id, accepted under an unknown one, and unanswered. */
  #uses(lines: readonly string[], id?: string) {
    const [accepted, unnamed, open] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (const line of lines) {
      const [, sign, hashes = ''] = lineForm.exec(line) ?? [];
      const [, first, message = '', third, fourth] = hashes.split(' ');
      // The release at e5bfb29c wrote no ids, but the recipient, and the key with its API key before it.
      const isEarlier = fourth !== undefined;
      if ((isEarlier ? third : first) !== this.#key) continue;
      if (sign === '?') open.add(message);
      else open.delete(message);
      if (sign === '=' && isEarlier) unnamed.add(message);
      else if (sign === '=' && third === id) accepted.add(message);
    }
    return { accepted, unnamed, open };
  }

  /** Another command may have used the key at the same time. */
  #linesNow(): readonly string[] {
    try {
      return (textOf(this.#file) ?? '').split('\n');
    } catch {
      return [];
    }
  }

  #note(sign: '=' | '-', id = ''): void {
    try {
      this.#write(sign, id);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #write(sign: '?' | '=' | '-', id = ''): void {
    const lines = this.#opened.map((message) => `${sign} ${this.#key} ${message}${id}\n`);
    appendFileSync(this.#file, lines.join(''), { mode: 0o600 });
  }

  #hash(value: unknown): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(value)).digest('hex').slice(0, 32);
  }
}
