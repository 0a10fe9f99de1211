import { setTimeout as sleep } from 'node:timers/promises';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import type { SimulatedCarrier } from '../../../src/service/carriers/simulated/simulated.js';
import { type Clock, systemClock } from '../../../src/service/clock.js';
import { type Core, openCore } from '../../../src/service/core.js';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import { caller } from '../../support/cores.js';
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.js';
import { emptyDatabase, query } from '../../support/postgres.js';
import { seededRandom } from '../../support/random.js';
import { dataAt } from '../service/data.js';
import { createDatabase, withCluster } from './own-cluster.js';

export interface StatementsResult {
  /** What clients say to the database in one game. */
  statements: number;
  games: number;
  /** What was wrong after a game, with its cut. */
  wrong: string[];
}

/** Five times as fast, so that leases and pauses are short. */
const fastClock: Clock = {
  now: () => Math.floor(systemClock.now() + 4 * systemClock.monotonic()),
  monotonic: () => 5 * systemClock.monotonic(),
  after: (milliseconds, run) => systemClock.after(milliseconds / 5, run),
};
const leaseMs = 5_000;
const atOnce = 4;

/**
 * Uses everything the service does, in one game after the other, and cuts the connection at the first statement, at the
 * second, and so on: before it arrives and when it was answered. With `most`, some of them by chance. The control
 * takes the lost answer of an operator for a refusal.
 */
export function playStatements(options: {
  seed: number;
  most: number;
  refusesLost?: boolean;
}): Promise<StatementsResult> {
  const random = seededRandom(options.seed);
  return withCluster(async ({ url }) => {
    const tables = await Promise.all(
      Array.from({ length: atOnce }, async (_, index) => {
        const database = await createDatabase(url, `urtuu_${index}`);
        return { database, proxy: await startProxy(database, false) };
      }),
    );
    const wrong: string[] = [];
    const play = async (table: Table, cut: Cut | null) => {
      const { statements, problems } = await playGame(table, cut, options.refusesLost === true);
      const at = cut === null ? 'no cut' : `cut ${cut.when} statement ${cut.at}`;
      wrong.push(...problems.map((problem) => `${at}: ${problem}`));
      return statements;
    };
    try {
      const [first] = tables as [Table];
      const statements = await play(first, null);
      const all = Array.from({ length: statements * 2 }, (_, index): Cut => {
        return { at: index >> 1, when: index % 2 === 0 ? 'before' : 'after' };
      });
      const chosen = all
        .map((cut) => ({ cut, rank: random() }))
        .sort((one, other) => one.rank - other.rank)
        .slice(0, options.most)
        .map(({ cut }) => cut);
      const left = chosen.values();
      await Promise.all(
        tables.map(async (table) => {
          for (const cut of left) await play(table, cut);
        }),
      );
      return { statements, games: chosen.length + 1, wrong };
    } finally {
      for (const { proxy } of tables) proxy.close();
    }
  });
}

interface Table {
  database: string;
  proxy: PostgresProxy;
}

interface Cut {
  at: number;
  when: 'before' | 'after';
}

async function playGame({ database, proxy }: Table, cut: Cut | null, refusesLost: boolean) {
  let statements = 0;
  const core = await openCore(
    { ...dataAt(proxy.url), clock: fastClock, rates: 'off', report() {} },
    { leaseMs, ...(refusesLost ? { carrier: refusingLost } : {}) },
  );
  const problems: string[] = [];
  try {
    proxy.cuts = () => {
      statements += 1;
      return cut?.at === statements - 1 ? cut.when : null;
    };
    await useEverything(core, problems);
    proxy.cuts = null;
    await lookIntoBooks(database, problems);
  } finally {
    proxy.cuts = null;
    await core.close();
  }
  await emptyDatabase(database);
  return { statements, problems };
}

const refusingLost = (carrier: SimulatedCarrier): Carrier => ({
  ...carrier,
  submit: (submission, signal) =>
    carrier
      .submit(submission, signal)
      .catch(() => ({ kind: 'refused', reason: 'it did not answer', tryNextRoute: true })),
});

/** By idempotency key: the messages that have to be there. */
const keyed = { sms: 1, refused: 1, lost: 1, email: 1, bulk: 4, emails: 3 };
const refused = '99000001';
const answerLost = '99000006';

async function useEverything(core: Core, problems: string[]): Promise<void> {
  const { operations, administration } = core;
  async function send(
    key: keyof typeof keyed,
    status: number,
    work: (idempotencyKey: string) => Promise<{ status: number }>,
  ): Promise<void> {
    for (;;) {
      const answer = await orUnavailable(work(key));
      // Late is an honest failure: the books say whether it was sent all the same.
      const isRight = answer?.status === status || (status === 200 && answer?.status === 502);
      if (answer !== null && !isRight) problems.push(`${key} is ${answer.status}`);
      if (answer !== null) return;
      await sleep(20);
    }
  }
  const sms = (to: string) => (idempotencyKey: string) =>
    operations.sendSms({ caller, params: { to, text: 'Hello' }, idempotencyKey });
  const mail = { subject: 'News', text: 'Hello' };

  await orUnavailable(operations.admit({ secret: core.localKey, kind: 'sending', idempotencyKey: 'sms' }));
  await send('sms', 200, sms('99112233'));
  await send('refused', 502, sms(refused));
  await send('lost', 200, sms(answerLost));
  await send('email', 202, (idempotencyKey) =>
    operations.sendEmail({ caller, params: { to: 'a@x.mn', ...mail }, idempotencyKey }),
  );
  await send('bulk', 202, (idempotencyKey) => {
    const params = { to: ['88112233', '88112234', '88112235', refused], text: 'Hello' };
    return operations.sendSmsBulk({ caller, params, idempotencyKey });
  });
  await send('emails', 202, (idempotencyKey) => {
    const params = { to: ['a@x.mn', 'b@x.mn', 'c@x.mn'], ...mail };
    return operations.sendEmailBulk({ caller, params, idempotencyKey });
  });
  const verification = await orUnavailable(operations.createVerification(caller, { to: '95112233' }));
  if (verification !== null) {
    const wrongCode = operations.checkVerification(caller, verification.id, { code: 'x' });
    await orUnavailable(
      wrongCode.catch((error) => (error.code === 'invalid_code' ? null : Promise.reject(error))),
    );
  }
  await orUnavailable(administration.credit(7));
  const key = await orUnavailable(administration.createKey());
  if (key !== null) await orUnavailable(administration.revokeKey(key.id));
  await orUnavailable(administration.settings.update({ brand_name: 'Shop' }));
  await orUnavailable(operations.getBalance(caller));
  for (;;) if ((await orUnavailable(administration.idle().then(() => true))) !== null) return;
}

/** Null for a 503, which may be asked again. */
async function orUnavailable<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unavailable') return null;
    throw error;
  }
}

const books = `
SELECT
  (SELECT count(*) FROM messages WHERE status = 'queued') + (SELECT count(*) FROM queue)
    + (SELECT count(*) FROM leases) AS open,
  (SELECT count(*) - count(DISTINCT reference) FROM deliveries) AS twice,
  (SELECT count(*) FROM messages m WHERE (m.status = 'sent')
    <> EXISTS (SELECT 1 FROM deliveries d WHERE d.reference = m.id)) AS lost,
  (SELECT count(*) FROM deliveries d WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = d.reference)) AS unknown,
  (SELECT balance FROM projects) - (SELECT sum(amount) FROM ledger) AS ledger,
  (SELECT sum(amount) FROM ledger WHERE reason NOT IN ('opening', 'credit')) + (SELECT sum(credits) FROM messages)
    AS charged,
  (SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM verifications v WHERE v.message = m.seq))
    - $1 AS messages,
  (SELECT count(*) FROM idempotency WHERE status IS NULL) AS unanswered`;

async function lookIntoBooks(database: string, problems: string[]): Promise<void> {
  const due = Object.values(keyed).reduce((sum, count) => sum + count, 0);
  // What was cut off ends with its lease.
  for (let waited = 0; waited < 100; waited += 1) {
    const [row] = await query<{ open: string }>(database, books, [due]);
    if (row?.open === '0') break;
    await sleep(100);
  }
  const [row] = await query<Record<string, string>>(database, books, [due]);
  for (const [name, off] of Object.entries(row ?? {})) if (off !== '0') problems.push(`${name} ${off}`);
}
