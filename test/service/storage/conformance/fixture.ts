import { ManualClock } from '../../../../src/service/clock.js';
import type { Instances } from '../../../../src/service/storage/instances.js';
import type {
  AcceptanceClaim,
  AcceptedRecipient,
  BatchAcceptance,
  ClaimedMessage,
  Content,
  MessageAcceptance,
  MessageClass,
  MessageRecord,
  Outcome,
  Store,
} from '../../../../src/service/storage/store.js';
import { seededRandom } from '../../../support/random.js';
import type { Engine, Handle } from './engine.js';

export const start = Date.UTC(2026, 5, 1);
export const project = { id: 'project-1', name: 'One', balance: 1_000 };
export const other = { id: 'project-2', name: 'Two', balance: 1_000 };
export const leaseMs = 30_000;
export const doubtMs = 300_000;
export const boundMs = 15_000;
export const content: Content = {
  text: 'hi',
  html: null,
  subject: null,
  from: null,
  replyTo: null,
  encrypted: null,
  isBulk: true,
};
export const answerOf = (message: MessageRecord, balance: number) => ({
  status: message.status === 'sent' ? 200 : 502,
  body: JSON.stringify({ id: message.id, balance }),
});
export const sent: Outcome = { status: 'sent', carrierIds: [], delivery: null };
export const unknown: Outcome = { status: 'sent', carrierIds: [], delivery: 'unknown' };
export const failed: Outcome = { status: 'failed', error: { code: 'provider_failed', message: 'no' } };

/** Picks at random; `about` names the seed. */
export function anyOf(seed = Number(process.env.URTUU_SEED ?? Date.now() % 1_000_000)) {
  const random = seededRandom(seed);
  return {
    about: `URTUU_SEED=${seed}`,
    of: <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item,
  };
}

let serial = 0;
export const newId = () => `id-${String(++serial).padStart(6, '0')}`;

const each = { parts: 1, rateMultiplier: 1, credits: 10 };
const common = {
  projectId: project.id,
  channel: 'sms',
  ...each,
  content,
  idempotencyKey: null,
  claim: null,
  boundMs,
} as const;

export function recipient(given: Partial<AcceptedRecipient> = {}): AcceptedRecipient {
  return { id: newId(), to: '99112233', operator: 'Mobicom', lane: 'sms', route: 'Mobicom', ...given };
}

type Given = Partial<AcceptedRecipient> & Partial<MessageAcceptance>;

export function message({ id, to, operator, lane, route, ...rest }: Given = {}): MessageAcceptance {
  const given = Object.fromEntries(
    Object.entries({ id, to, operator, lane, route }).filter(([, value]) => value !== undefined),
  );
  return { ...common, recipient: recipient(given), caps: [20, 80], answer: null, ...rest };
}

export function batch(to: readonly string[], rest: Partial<BatchAcceptance> = {}): BatchAcceptance {
  return {
    ...common,
    batchId: newId(),
    recipients: to.map((one) => recipient({ to: one })),
    answer: (_, balance) => ({ status: 202, body: JSON.stringify({ balance }) }),
    ...rest,
  };
}

/** Of a key that takes every request. */
export const wholeKey = { prefix: null, label: null, scope: ['send', 'read'], expiry: null } as const;

export const claimOf = (token: string): AcceptanceClaim => ({ token, leaseMs, doubtMs });

/** Two projects in a store, and short ways to use it. With two handles, every call goes to the next one. */
export class Fixture {
  readonly clock = new ManualClock(start);
  readonly store: Store;
  readonly instances: Instances;
  readonly handles: Handle[];
  #tokens = 0;

  private constructor(handles: Handle[], clock: ManualClock) {
    this.handles = handles;
    this.clock = clock;
    this.store = alternating(handles.map(({ store }) => store));
    this.instances = alternating(handles.map(({ instances }) => instances));
  }

  static async open(engine: Engine, handles: number): Promise<Fixture> {
    const clock = new ManualClock(start);
    const fixture = new Fixture(await engine.open(Array(handles).fill(clock)), clock);
    await fixture.store.createProject(project);
    await fixture.store.createProject(other);
    return fixture;
  }

  close(): Promise<unknown> {
    return Promise.all(this.handles.map((handle) => handle.close()));
  }

  async balance(id = project.id): Promise<number | undefined> {
    return (await this.store.getProject(id))?.balance;
  }

  async ledgerSum(id = project.id): Promise<number> {
    return (await this.store.listLedger(id)).reduce((sum, entry) => sum + entry.amount, 0);
  }

  newToken(): string {
    this.#tokens += 1;
    return `t${this.#tokens}`;
  }

  async claim(limit = 100, lane = 'sms'): Promise<ClaimedMessage[]> {
    const single = await this.claimClass('single', limit, lane);
    const rest = limit - single.length;
    return rest === 0 ? single : [...single, ...(await this.claimClass('batch', rest, lane))];
  }

  claimClass(kind: MessageClass, limit = 100, lane = 'sms', onlyOverdue = false): Promise<ClaimedMessage[]> {
    return this.store.claimMessages({
      token: this.newToken(),
      leaseMs,
      limit,
      lane,
      class: kind,
      onlyOverdue,
    });
  }

  claimDoubts(limit = 100): Promise<ClaimedMessage[]> {
    return this.store.claimDoubts({ token: this.newToken(), leaseMs, limit, lane: 'sms' });
  }

  /** Marks for the next attempt; what could not be marked is left out. */
  async mark(claimed: readonly ClaimedMessage[], route = 'Mobicom'): Promise<ClaimedMessage[]> {
    const marked = await this.store.markSubmitting(
      claimed.map((one) => ({ claimed: one, attempt: one.attempts + 1, route, doubtMs })),
    );
    return claimed.flatMap((one, index) => {
      const attempt = one.attempts + 1;
      return marked[index] === true ? [{ ...one, attempts: attempt, mark: { attempt, route } }] : [];
    });
  }

  finalize(claimed: readonly ClaimedMessage[], outcome: Outcome) {
    return this.store.finalizeMessages(
      claimed.map((one) => ({ claimed: one, outcome })),
      answerOf,
    );
  }

  rows(): Promise<Record<string, number>> {
    return (this.handles[0] as Handle).rows();
  }

  async countRequests(): Promise<number | undefined> {
    return (await this.rows()).requests;
  }

  statusOf(id: string) {
    return this.store.getMessage(project.id, id);
  }
}

/** Every call goes to the next of them. */
function alternating<Part extends object>(parts: readonly Part[]): Part {
  let calls = 0;
  return new Proxy(parts[0] as Part, {
    get: (_, name) => {
      calls += 1;
      const part = parts[calls % parts.length] as Part;
      const method = part[name as keyof Part] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => method.apply(part, args);
    },
  });
}
