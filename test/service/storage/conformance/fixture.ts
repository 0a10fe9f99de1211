import type {
  BatchAcceptance,
  ClaimedMessage,
  Content,
  MessageAcceptance,
  MessageRecord,
  Store,
} from '../../../../src/service/storage/store.js';

export const start = Date.UTC(2026, 5, 1);
export const project = { id: 'project-1', name: 'One', balance: 1_000, createdAt: start };
export const other = { id: 'project-2', name: 'Two', balance: 1_000, createdAt: start };
export const content: Content = {
  text: 'hi',
  html: null,
  subject: null,
  from: null,
  replyTo: null,
  sealed: null,
};
export const answerOf = (message: MessageRecord, balance: number) => ({
  status: message.status === 'sent' ? 200 : 502,
  body: JSON.stringify({ id: message.id, balance }),
});

let serial = 0;
export const newId = () => `id-${String(++serial).padStart(6, '0')}`;

export function message(
  given: Partial<MessageRecord> = {},
  rest: Partial<MessageAcceptance> = {},
): MessageAcceptance {
  return {
    message: {
      id: newId(),
      projectId: project.id,
      batchId: null,
      channel: 'sms',
      to: '99112233',
      operator: 'Mobicom',
      status: 'queued',
      parts: 1,
      rateMultiplier: 1,
      credits: 10,
      error: null,
      createdAt: start,
      sentAt: null,
      ...given,
    },
    content,
    idempotencyKey: null,
    caps: [20, 80],
    lease: null,
    answer: null,
    ...rest,
  };
}

export function batch(recipients: readonly string[], rest: Partial<BatchAcceptance> = {}): BatchAcceptance {
  return {
    projectId: project.id,
    batch: {
      id: newId(),
      status: 'processing',
      channel: 'sms',
      total: recipients.length,
      sent: 0,
      failed: 0,
      credits: recipients.length * 10,
      createdAt: start,
      completedAt: null,
    },
    content,
    idempotencyKey: null,
    recipients: recipients.map((to) => ({ id: newId(), to, operator: 'Mobicom' })),
    lease: null,
    each: { parts: 1, rateMultiplier: 1, credits: 10 },
    answer: (balance) => ({ status: 202, body: JSON.stringify({ balance }) }),
    ...rest,
  };
}

/** A store with two projects, and short ways to use it. */
export class Fixture {
  readonly store: Store;
  #tokens = 0;

  constructor(store: Store) {
    this.store = store;
  }

  async balance(id = project.id): Promise<number | undefined> {
    return (await this.store.getProject(id))?.balance;
  }

  async ledgerSum(id = project.id): Promise<number> {
    return (await this.store.listLedger(id)).reduce((sum, entry) => sum + entry.amount, 0);
  }

  claim(now = start, limit = 100, life = 5_000): Promise<ClaimedMessage[]> {
    this.#tokens += 1;
    return this.store.claimMessages({ lease: { token: `t${this.#tokens}`, until: now + life }, now, limit });
  }

  settle(claimed: ClaimedMessage[], status: 'sent' | 'failed', at = start) {
    const outcome =
      status === 'sent' ? { status } : { status, error: { code: 'provider_failed', message: 'no' } };
    return this.store.settleMessages(
      claimed.map((one) => ({ claimed: one, outcome, at })),
      answerOf,
    );
  }
}
