// One instance: callers that accept and finalize on a PostgreSQL, as a process of its own.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/service/clock.js';
import { openPostgresStorage } from '../../src/service/storage/postgres/postgres-storage.js';
import type { ClaimedMessage, Content, MessageClaim, Store } from '../../src/service/storage/store.js';

export const secret = new Uint8Array(32).fill(7);
export const project = 'bench';
/** Messages of the backlog that are claimed, and written as final, at once. */
const claimSize = 1_000;
const claimers = 2;

export const openStorage = (url: string) =>
  openPostgresStorage({ url, secret, clock: systemClock, report: fail });

function fail(error: unknown): never {
  throw error;
}

const content: Content = {
  text: 'Сайн байна уу, таны захиалга ирлээ.',
  html: null,
  subject: null,
  from: null,
  replyTo: null,
  encrypted: null,
};
const sent = { status: 'sent', carrierIds: [], delivery: null } as const;
const answer = () => ({ status: 200, body: JSON.stringify({ id: 'x'.repeat(300), balance: 0 }) });
const claim = () => ({ token: randomUUID(), leaseMs: 30_000, doubtMs: 30_000 });

async function send(store: Store): Promise<void> {
  const recipient = {
    id: randomUUID(),
    to: String(Math.floor(Math.random() * 1e8)),
    operator: 'Mobicom',
    lane: 'sms',
    route: 'Mobicom',
  };
  const accepted = await store.acceptMessage({
    ...{ projectId: project, channel: 'sms', parts: 1, rateMultiplier: 1, credits: 1, content, recipient },
    ...{ idempotencyKey: randomUUID(), claim: claim(), boundMs: 15_000, caps: [20, 80], answer: null },
  });
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  await finalize(store, accepted.claimed);
}

async function finalize(store: Store, claimed: readonly ClaimedMessage[]): Promise<void> {
  const ended = await store.finalizeMessages(
    claimed.map((one) => ({ claimed: one, outcome: sent })),
    answer,
  );
  if (ended.some((one) => one === null)) throw new Error('fenced');
}

/** Messages a second that so many callers accept and finalize, for some seconds. */
export async function sendRate(store: Store, callers: number, seconds: number): Promise<number> {
  return rateOf(callers, seconds, async () => {
    await send(store);
    return 1;
  });
}

/** Messages a second from the backlog to their end. */
export async function claimRate(
  store: Store,
  seconds: number,
  of: Pick<MessageClaim, 'lane' | 'class'> = { lane: 'sms', class: 'single' },
): Promise<number> {
  return rateOf(claimers, seconds, async () => {
    const { token, leaseMs, doubtMs } = claim();
    const given = { token, leaseMs, limit: claimSize, ...of };
    const claimed = await store.claimMessages(given);
    const mark = { attempt: 1, route: 'Mobicom' };
    await store.markSubmitting(claimed.map((one) => ({ claimed: one, ...mark, doubtMs })));
    await finalize(
      store,
      claimed.map((one) => ({ ...one, attempts: 1, mark })),
    );
    return claimed.length;
  });
}

async function rateOf(callers: number, seconds: number, work: () => Promise<number>): Promise<number> {
  const start = performance.now();
  let done = 0;
  const caller = async () => {
    while (performance.now() - start < seconds * 1_000) {
      const count = await work();
      done += count;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (done / (performance.now() - start)) * 1_000;
}
