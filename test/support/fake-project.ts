import type { Batch, Channel, EmailMessage, Message, SmsMessage } from '../../src/contract/index.js';
import { batch, emailMessage, pricing, smsMessage } from './resources.js';
import { type FakeService, fakeService, type Reply, type Request, refusal } from './run.js';

export interface ProjectOptions {
  credits?: number;
  /** Recipients that are refused as unsupported. */
  unsupported?: ReadonlySet<string>;
  /** Recipients whose messages fail: singles at once, those of a batch in the background. */
  failing?: ReadonlySet<string>;
  /** Recipients on its do-not-send list. */
  suppressed?: ReadonlySet<string>;
  /** Tries that recipients of single sends are over their cap. */
  capped?: Map<string, number>;
  /** Whether idempotency keys are bound to refusals too. */
  binding?: boolean;
  /** Whether the messages of a batch can be listed, and those of the project. */
  listing?: boolean;
  /** Recipients whose sent messages may have arrived or not. Absent: the service never says so of any. */
  unknown?: ReadonlySet<string>;
  /** Its clock, in milliseconds: of acceptances, and of the Date header. */
  now?: () => number;
  /** Answers in place of the project; undefined lets it answer. */
  instead?: (request: Request) => Reply | Error | undefined | Promise<Reply | undefined>;
}

const prices = { sms: pricing.sms.credits_per_part, email: pricing.email.credits_per_message } as const;
const checkPath = '/suppressions/check';
/** Messages on a page of a list. */
const pageSize = 400;

/**
 * The model of the service that tests of the command line share: a project in memory, with its messages, balance and
 * idempotency keys. `service` is a fetch to it; `post` is one send.
 */
export class FakeProject {
  readonly service: FakeService;
  readonly messages: Message[] = [];
  readonly options: ProjectOptions;
  balance: number;
  readonly #batches = new Map<string, Batch>();
  readonly #bound = new Map<string, Reply>();
  #ids = 0;

  constructor(options: ProjectOptions = {}) {
    this.options = options;
    this.balance = options.credits ?? 1_000_000;
    this.service = fakeService((request) => {
      if (request.path === checkPath) return this.#check(request.body?.to as string[]);
      const instead = this.options.instead?.(request);
      if (instead instanceof Promise) return instead.then((reply) => reply ?? this.#dated(request));
      return instead ?? this.#dated(request);
    });
  }

  /** Requests that were posted. */
  get sends(): Request[] {
    return this.service.requests.filter(({ method, path }) => method === 'POST' && path !== checkPath);
  }

  /** How many messages each recipient got. */
  received(): Map<string, number> {
    const got = new Map<string, number>();
    for (const { to, status } of this.messages) if (status !== 'failed') got.set(to, (got.get(to) ?? 0) + 1);
    return got;
  }

  #dated(request: Request): Reply {
    const { now } = this.options;
    const answer = this.#answer(request);
    if (now === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, Date: new Date(now()).toUTCString() } };
  }

  get #created(): { created_at?: string } {
    const { now } = this.options;
    return now === undefined ? {} : { created_at: new Date(now()).toISOString() };
  }

  #answer({ method, path, body, headers }: Request): Reply {
    if (path === '/pricing') return { body: pricing };
    if (path === '/balance') return { body: { balance: this.balance } };
    if (method === 'GET') return this.#read(path);
    const channel = path.startsWith('/sms') ? 'sms' : 'email';
    return this.post(channel, body?.to as string | string[], headers['Idempotency-Key'] ?? '');
  }

  #check(to: string[]): Reply {
    const { suppressed } = this.options;
    if (suppressed === undefined) return refusal(404, 'not_found');
    return {
      body: {
        data: to.filter((each) => suppressed.has(each)).map((each) => ({ to: each, reason: 'opt_out' })),
      },
    };
  }

  /** Answers a send, from its key alone when that is bound. */
  post(channel: Channel, to: string | string[], key: string): Reply {
    const bound = this.#bound.get(key);
    if (bound !== undefined) return { ...bound, headers: { 'Idempotency-Replayed': 'true' } };
    const answer = Array.isArray(to) ? this.#sendBatch(channel, to) : this.#sendOne(channel, to);
    const { status = 200 } = answer;
    if (status < 300 || status === 502 || (this.options.binding === true && status !== 429))
      this.#bound.set(key, answer);
    return answer;
  }

  #sendOne(channel: Channel, to: string): Reply {
    const { unsupported, capped } = this.options;
    if (unsupported?.has(to)) return refusal(422, 'unsupported_number');
    if (this.options.suppressed?.has(to)) return refusal(422, 'recipient_suppressed', { reason: 'opt_out' });
    const tries = capped?.get(to) ?? 0;
    if (tries > 0) {
      capped?.set(to, tries - 1);
      return { ...refusal(429, 'recipient_rate_limited'), headers: { 'Retry-After': '20' } };
    }
    const required = prices[channel];
    const unpaid = this.#charge(required);
    if (unpaid !== null) return unpaid;
    const message = this.#take(channel, to, null);
    if (channel === 'sms' && message.status === 'failed')
      return refusal(502, 'provider_failed', { id: message.id });
    return { body: { ...message, credits: required, balance: this.balance } };
  }

  #sendBatch(channel: Channel, to: string[]): Reply {
    const invalid = to.filter((each) => this.options.unsupported?.has(each));
    if (invalid.length > 0) return refusal(400, 'invalid_request', { invalid: invalid.slice(0, 50) });
    const credits = to.length * prices[channel];
    const unpaid = this.#charge(credits);
    if (unpaid !== null) return unpaid;
    const accepted = batch({ id: this.#id(), channel, total: to.length, credits, ...this.#created });
    this.#batches.set(accepted.id, accepted);
    // Its messages fail, and are refunded, after the answer.
    const { balance } = this;
    for (const each of to) this.#take(channel, each, accepted.id);
    return { status: 202, body: { ...accepted, balance } };
  }

  #charge(required: number): Reply | null {
    if (this.balance < required)
      return refusal(402, 'insufficient_credits', { balance: this.balance, required });
    this.balance -= required;
    return null;
  }

  #take(channel: Channel, to: string, batchId: string | null): Message {
    const isSuppressed = this.options.suppressed?.has(to) === true;
    const fails = isSuppressed || this.options.failing?.has(to) === true;
    const code = isSuppressed ? 'recipient_suppressed' : 'provider_failed';
    const fields = {
      id: this.#id(),
      to,
      batch_id: batchId,
      ...this.#created,
      ...(fails
        ? { status: 'failed', credits: 0, error: { code, message: 'no' } }
        : { status: channel === 'email' && batchId === null ? 'queued' : 'sent', credits: prices[channel] }),
    } as Partial<SmsMessage & EmailMessage>;
    const message = channel === 'sms' ? smsMessage(fields) : emailMessage(fields);
    this.messages.push(message);
    if (fails) this.balance += prices[channel];
    return message;
  }

  /** As a read has it: with the delivery, where the service says it. */
  #shown(message: Message): Message {
    const { unknown } = this.options;
    if (unknown === undefined) return message;
    const isUnknown = message.status === 'sent' && unknown.has(message.to);
    return { ...message, delivery: isUnknown ? 'unknown' : null };
  }

  /** The newest first. */
  #list(query: URLSearchParams): Reply {
    const { unknown, listing = true } = this.options;
    if (unknown === undefined || !listing) return refusal(404, 'not_found');
    const delivery = query.get('delivery');
    const after = query.get('after');
    const all = this.messages
      .map((each) => this.#shown(each))
      .filter((each) => delivery === null || each.delivery === delivery)
      .reverse();
    const first = after === null ? 0 : all.findIndex((each) => each.id === after) + 1;
    const data = all.slice(first, first + pageSize);
    return { body: { data, next: first + pageSize < all.length ? data.at(-1)?.id : null } };
  }

  #read(path: string): Reply {
    if (path.startsWith('/messages?')) return this.#list(new URLSearchParams(path.split('?')[1]));
    const [, kind, id = '', list] = /^\/(batches|messages)\/([^/?]+)(\/messages)?/.exec(path) ?? [];
    if (kind === 'messages') {
      const message = this.messages.find((each) => each.id === id);
      if (message?.status === 'queued') message.status = 'sent';
      return message ? { body: this.#shown(message) } : refusal(404, 'not_found');
    }
    const accepted = this.#batches.get(id);
    if (accepted === undefined || (list !== undefined && this.options.listing === false))
      return refusal(404, 'not_found');
    const members = this.messages.filter(({ batch_id }) => batch_id === id).map((each) => this.#shown(each));
    if (list !== undefined) {
      const after = new URLSearchParams(path.split('?')[1]).get('after');
      const first = after === null ? 0 : members.findIndex((each) => each.id === after) + 1;
      const data = members.slice(first, first + pageSize);
      return { body: { data, next: first + pageSize < members.length ? data.at(-1)?.id : null } };
    }
    const failed = members.filter(({ status }) => status === 'failed').length;
    const { created_at: at } = accepted;
    const unknown = members.filter(({ delivery }) => delivery === 'unknown').length;
    const figures = { sent: members.length - failed, failed, ...(this.options.unknown ? { unknown } : {}) };
    return { body: { ...accepted, ...figures, status: 'completed', completed_at: at } };
  }

  #id(): string {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }
}
