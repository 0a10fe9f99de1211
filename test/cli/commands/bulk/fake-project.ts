import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type FakeService,
  fakeService,
  pricing,
  type Reply,
  type Request,
  type Result,
  run,
  type Setting,
} from '../../../support/run.js';

export interface ProjectOptions {
  credits?: number;
  /** Numbers that are refused as unsupported. */
  unsupported?: ReadonlySet<string>;
  /** Numbers whose messages fail: singles at once, those of a batch in the background. */
  failing?: ReadonlySet<string>;
  /** Whether the messages of a batch can be listed. */
  listing?: boolean;
  /** Answers in place of the project; undefined lets it answer. */
  instead?: (request: Request) => Reply | Error | undefined;
}

interface Sent {
  id: string;
  to: string;
  status: string;
  batch_id: string | null;
  credits: number;
  error: { code: string; message: string } | null;
}

/** A project at a service that keeps idempotency keys, over a fetch that never leaves this process. */
export class FakeProject {
  readonly service: FakeService;
  readonly messages: Sent[] = [];
  balance: number;
  readonly options: ProjectOptions;
  readonly #answers = new Map<string, Reply>();
  #ids = 0;

  constructor(options: ProjectOptions = {}) {
    this.options = options;
    this.balance = options.credits ?? 1_000_000;
    this.service = fakeService((request) => this.options.instead?.(request) ?? this.#answer(request));
  }

  /** Requests that were posted. */
  get sends(): Request[] {
    return this.service.requests.filter(({ method }) => method === 'POST');
  }

  received(): Map<string, number> {
    const got = new Map<string, number>();
    for (const { to, status } of this.messages) if (status !== 'failed') got.set(to, (got.get(to) ?? 0) + 1);
    return got;
  }

  #answer(request: Request): Reply {
    if (request.path === '/pricing') return { body: pricing };
    if (request.path === '/balance') return { body: { balance: this.balance } };
    if (request.method === 'GET') return this.#read(request.path);
    const key = request.headers['Idempotency-Key'] ?? '';
    const known = this.#answers.get(key);
    if (known !== undefined) return { ...known, headers: { 'Idempotency-Replayed': 'true' } };
    const answer = this.#send(request);
    if ((answer.status ?? 200) < 300 || answer.status === 502) this.#answers.set(key, answer);
    return answer;
  }

  #send({ body, path }: Request): Reply {
    const channel = path.startsWith('/sms') ? 'sms' : 'email';
    const price = channel === 'sms' ? 10 : 2;
    const to = body?.to as string | string[];
    const all = Array.isArray(to) ? to : [to];
    const invalid = all.filter((each) => this.options.unsupported?.has(each));
    if (invalid.length > 0 && Array.isArray(to))
      return refused(400, 'invalid_request', { invalid: invalid.slice(0, 50) });
    if (invalid.length > 0) return refused(422, 'unsupported_number');
    const required = all.length * price;
    if (this.balance < required)
      return refused(402, 'insufficient_credits', { balance: this.balance, required });
    const batch = Array.isArray(to) ? this.#id() : null;
    this.balance -= required;
    for (const each of all) this.#take(each, channel, batch, price);
    const last = this.messages.at(-1);
    if (batch === null && channel === 'sms' && last?.status === 'failed') {
      return refused(502, 'provider_failed', { id: last.id });
    }
    const common = {
      channel,
      credits: required,
      balance: this.balance,
      created_at: '2026-11-21T00:00:00.000Z',
    };
    if (batch === null) return { body: { ...common, ...last, sent_at: null } };
    const progress = {
      id: batch,
      status: 'processing',
      total: all.length,
      sent: 0,
      failed: 0,
      completed_at: null,
    };
    return { status: 202, body: { ...common, ...progress } };
  }

  #take(to: string, channel: string, batch: string | null, price: number): void {
    const fails = this.options.failing?.has(to) === true;
    const queued = channel === 'email' && batch === null && !fails;
    this.messages.push({
      id: this.#id(),
      to,
      batch_id: batch,
      status: fails ? 'failed' : queued ? 'queued' : 'sent',
      credits: fails ? 0 : price,
      error: fails ? { code: 'provider_failed', message: 'no' } : null,
    });
    if (fails) this.balance += price;
  }

  #read(path: string): Reply {
    const [, kind, id, list] = /^\/(batches|messages)\/([^/?]+)(\/messages)?/.exec(path) ?? [];
    if (kind === 'messages') {
      const message = this.messages.find((each) => each.id === id);
      if (message?.status === 'queued') message.status = 'sent';
      return message ? { body: message } : refused(404, 'not_found');
    }
    const members = this.messages.filter(({ batch_id }) => batch_id === id);
    if (members.length === 0 || (list !== undefined && this.options.listing === false))
      return refused(404, 'not_found');
    if (list !== undefined) {
      const after = new URLSearchParams(path.split('?')[1]).get('after');
      const first = after === null ? 0 : members.findIndex((each) => each.id === after) + 1;
      const data = members.slice(first, first + 400);
      return { body: { data, next: first + 400 < members.length ? data.at(-1)?.id : null } };
    }
    const failed = members.filter(({ status }) => status === 'failed').length;
    return {
      body: { id, status: 'completed', total: members.length, sent: members.length - failed, failed },
    };
  }

  #id(): string {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }
}

export function refused(status: number, code: string, fields: object = {}): Reply {
  return { status, body: { error: { code, message: code, ...fields } } };
}

/** A home folder that outlives single commands. */
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
