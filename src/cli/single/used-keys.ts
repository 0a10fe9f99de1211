import { createHmac, randomBytes } from 'node:crypto';
import { appendFileSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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
  /** An earlier message or this one; both were tried, and neither was answered. */
  | 'either';

export interface KeyAccount {
  service: string;
  /** Null where the service has one account. */
  apiKey: string | null;
}

/** Hashes of one key. */
interface KeyNames {
  /** With its API key. */
  own: string;
  /** With any API key of its service: keys are unique in a project, which may have several. */
  shared: string;
  /** Of the message's recipient. */
  recipient: string;
}

/** Its channel, and its fields as they are sent. */
export type KeyedMessage = readonly [channel: string, fields: { readonly to: string }];

/**
 * Which message each idempotency key given by hand was used for. Only hashes are stored, to notice a repeat with
 * another text, which the service would answer as if all were well. A line is `? key message shared recipient` before
 * a request, `=` when it was accepted, `-` when it certainly was not; `shared` is the key under any API key. It is not a
 * record: damage loses some lines and nothing else.
 */
export class UsedKeys {
  readonly #file: string;
  readonly #salt: string;
  readonly #lines: string[];

  private constructor(file: string, salt: string, lines: string[]) {
    this.#file = file;
    this.#salt = salt;
    this.#lines = lines;
  }

  /** Null if it cannot be used: a file of a later version, or nowhere to write. */
  static async open(file: string): Promise<UsedKeys | null> {
    const text = textOf(file);
    const [header = '', ...lines] = (text ?? '').split('\n');
    const [, version, salt] = headerForm.exec(header) ?? [];
    if (version !== undefined && version !== '1') return null;
    const keys = new UsedKeys(file, salt ?? randomBytes(16).toString('hex'), salt === undefined ? [] : lines);
    if (text === null) return keys.#create() ? keys : UsedKeys.open(file);
    if (salt === undefined) await keys.#replace([]);
    else if (lines.length > mostLines) await keys.#replace(lines.slice(-mostLines / 2));
    // Ends an incomplete line.
    else if (lines.at(-1) !== '') appendFileSync(file, '\n');
    return keys;
  }

  /** A key of an account of a service, and the message it is now used for. */
  use({ service, apiKey }: KeyAccount, key: string, message: KeyedMessage): UsedKey {
    const write = (line: string) => appendFileSync(this.#file, `${line}\n`, { mode: 0o600 });
    const newest = () => (textOf(this.#file) ?? '').split('\n');
    const account = apiKey === null ? service : [service, apiKey];
    const [channel, { to }] = message;
    const names = {
      own: this.#hash([account, key]),
      shared: this.#hash(['shared', service, key]),
      recipient: this.#hash([channel, to]),
    };
    return new UsedKey(names, this.#hash(message), this.#lines, write, newest);
  }

  #hash(value: unknown): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(value)).digest('hex').slice(0, 32);
  }

  /** False if another process is creating it with its own salt. */
  #create(): boolean {
    makeFolder(dirname(this.#file));
    try {
      writeFileSync(this.#file, this.#text([]), { mode: 0o600, flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  #replace(lines: readonly string[]): Promise<void> {
    return writePrivateFile(this.#file, this.#text(lines));
  }

  #text(lines: readonly string[]): string {
    return `${[`urtuu used-keys 1 ${this.#salt}`, ...lines.filter(Boolean)].join('\n')}\n`;
  }
}

const headerForm = /^urtuu used-keys (\d+) ([0-9a-f]{32})$/;
/** Lines of earlier versions end after the message. */
const lineForm = /^([?=-]) ([0-9a-f]{32}) ([0-9a-f]{32})(?: ([0-9a-f]{32}) ([0-9a-f]{32}))?$/;
/** About 700 kB; the older half is deleted when there are more. */
const mostLines = 5_000;
const mostBytes = 1_000_000;

/** Null if there is no file. Another program's file, or one that is too large, counts as damaged. */
function textOf(file: string): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isFile() && stats.size <= mostBytes ? readFileSync(file, 'utf8') : '';
}

/** The use of a key for a message, from before the request until its answer. */
export class UsedKey {
  readonly #names: KeyNames;
  readonly #message: string;
  readonly #write: (line: string) => void;
  /** The current lines: another command may have used the key at the same time. */
  readonly #newest: () => readonly string[];
  /** The message that the service has accepted under the key, as far as this machine knows. */
  readonly #accepted: string | null;
  /** Messages sent under it earlier and never answered. */
  readonly #unanswered: ReadonlySet<string>;
  readonly #isOpenElsewhere: boolean;

  constructor(
    names: KeyNames,
    message: string,
    lines: readonly string[],
    write: (line: string) => void,
    newest: () => readonly string[] = () => lines,
  ) {
    this.#names = names;
    this.#message = message;
    this.#write = write;
    this.#newest = newest;
    const { accepted, unanswered, elsewhere } = usesOf(names, lines);
    this.#accepted = accepted;
    this.#unanswered = unanswered;
    this.#isOpenElsewhere = elsewhere.unanswered.has(message);
    if (!unanswered.has(message)) this.#note('?');
  }

  accepted(): void {
    this.#note('=');
  }

  /** Whether an earlier command sent it under the key and got no answer; `elsewhere`: with another API key. */
  get isOpen(): 'here' | 'elsewhere' | false {
    if (this.#unanswered.has(this.#message)) return 'here';
    return this.#isOpenElsewhere && 'elsewhere';
  }

  /** Call if it was certainly not sent, by any command. */
  resolved(): void {
    this.#note('-');
  }

  /** Call if it was certainly not sent by this command. A send of an earlier command stays open. */
  notSent(): void {
    if (!this.#unanswered.has(this.#message)) this.#note('-');
  }

  /**
   * The send to which a replay belongs; `repeated`: whether this command sent more than one request; `isErased`: whether
   * the answer has lost its recipient.
   */
  replayed(repeated: boolean, isErased = false): Replayed {
    const now = usesOf(this.#names, this.#newest());
    const accepted = now.accepted ?? this.#accepted;
    if (accepted !== null) return accepted === this.#message ? 'same' : 'other';
    const isOther = (message: string) => message !== this.#message;
    const others = [...this.#unanswered, ...now.unanswered].some(isOther);
    const elsewhere = [
      ...now.elsewhere.accepted,
      ...now.elsewhere.unanswered,
      ...(isErased ? now.toOthers : []),
    ];
    // Whether the other API key is of the same project is unknown.
    if (elsewhere.some(isOther)) return 'either';
    if (this.#unanswered.has(this.#message) || elsewhere.length > 0) return others ? 'either' : 'same';
    if (others) return repeated ? 'either' : 'other';
    return 'unknown';
  }

  #note(sign: '?' | '=' | '-'): void {
    const { own, shared, recipient } = this.#names;
    this.#write(`${sign} ${own} ${this.#message} ${shared} ${recipient}`);
  }
}

interface Uses {
  accepted: string | null;
  unanswered: Set<string>;
  /** To the same recipient, with other API keys. */
  elsewhere: { accepted: Set<string>; unanswered: Set<string> };
  /** Messages to other recipients, with other API keys. */
  toOthers: Set<string>;
}

/** The uses of one key according to the lines. */
function usesOf({ own, shared, recipient }: KeyNames, lines: readonly string[]): Uses {
  const elsewhere = { accepted: new Set<string>(), unanswered: new Set<string>() };
  const uses: Uses = { accepted: null, unanswered: new Set(), elsewhere, toOthers: new Set() };
  const open = new Map<string, { about: string; into: Set<string> }>();
  for (const line of lines) {
    const [, sign, name = '', about = '', service, to] = lineForm.exec(line) ?? [];
    const isOwn = name === own;
    if (!isOwn && service !== shared) continue;
    const isSame = to === recipient;
    const into = isOwn ? uses.unanswered : isSame ? elsewhere.unanswered : uses.toOthers;
    if (sign === '?') open.set(`${name} ${about}`, { about, into });
    else open.delete(`${name} ${about}`);
    if (sign !== '=') continue;
    if (isOwn) uses.accepted = about;
    else (isSame ? elsewhere.accepted : uses.toOthers).add(about);
  }
  for (const { about, into } of open.values()) into.add(about);
  return uses;
}
