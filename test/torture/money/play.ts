import { deepEqual, equal, ok } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import type { Message } from '../../../src/contract/index.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../../src/service/core.js';
import { leaseTime } from '../../../src/service/dispatch/held-leases.js';
import {
  Cores,
  caller,
  ledgerDifference,
  outboxOf,
  pass,
  replayOf,
  settle,
  ticks,
} from '../../support/cores.js';
import { Crash, collectGarbage } from '../../support/crash.js';
import { countUnderWay } from '../../support/postgres/under-way.js';
import { emptyDatabase } from '../../support/postgres.js';
import { dataAt } from '../service/data.js';
import { begin, moody, type Step, step } from './steps.js';
import { type StoreKind, storeDouble } from './stores.js';

export interface MoneyResult {
  sequences: number;
  steps: number;
  /** The first sequence after which the money is not right, and what is wrong then; null when there is none. */
  failure: string | null;
}

/** Arbitrary sequences of sends, refusals, credits, time and crashes, each on a service of its own. */
export async function playMoney(options: {
  seed: number;
  sequences: number;
  store: StoreKind;
  /** Of two services on this PostgreSQL, which alternate; one on files where it is absent. */
  database?: string;
}): Promise<MoneyResult> {
  const cores = new Cores();
  const { database, store } = options;
  const stopCounting = database === undefined ? () => {} : countUnderWay(database);
  let sequences = 0;
  let steps = 0;
  const moods = fc.array(fc.nat(12), { minLength: 1, maxLength: 20 });
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 40 }),
    moods,
    async (all, given) => {
      sequences += 1;
      steps += all.length;
      const directory = cores.folder();
      try {
        const clock = new ManualClock(Date.UTC(2026, 5, 1));
        if (database !== undefined) await emptyDatabase(database);
        const data = database === undefined ? { directory } : dataAt(database);
        const open = (crash: Crash) =>
          cores.openMortal({ ...data, clock, rates: 'off' }, doublesOf(crash, given, store));
        await playSequence(all, clock, open, database === undefined ? 1 : 2);
      } finally {
        rmSync(directory, { recursive: true });
      }
      if (sequences % 50 === 0) {
        collectGarbage();
        await ticks();
      }
    },
  );
  try {
    const { seed, sequences: numRuns } = options;
    const details = await fc.check(property, { seed, numRuns, endOnFailure: true });
    const failure = details.failed
      ? `path ${details.counterexamplePath}: ${(details.errorInstance as Error).message.split('\n')[0]}`
      : null;
    return { sequences, steps, failure };
  } finally {
    stopCounting();
    await cores.closeAll();
  }
}

/** The crash comes first: what a wrong store does is over when the process is dead. */
function doublesOf({ doubles }: Crash, moods: number[], store: StoreKind): CoreDoubles {
  const wrongly = storeDouble(store);
  return {
    store: (real) => wrongly(doubles.store?.(real) ?? real),
    carrier: (real) => moody(doubles.carrier?.(real) ?? real, moods),
  };
}

async function playSequence(
  steps: readonly Step[],
  clock: ManualClock,
  open: (crash: Crash) => Promise<Core>,
  services: number,
): Promise<void> {
  const start = async () => {
    const crash = new Crash();
    return { crash, core: await open(crash) };
  };
  const running = [await start()];
  while (running.length < services) running.push(await start());
  let [{ core }] = running as [Running];
  const credits = [-99_600];
  await core.administration.credit(-99_600);
  const answers = new Map<string, string>();
  const problems: unknown[] = [];

  for (const [index, one] of steps.entries()) {
    const service = index % services;
    const { crash } = running[service] as Running;
    ({ core } = running[service] as Running);
    if (one.kind === 'credit') {
      credits.push(one.amount);
      await core.administration.credit(one.amount);
    } else if (one.kind === 'time') await pass(clock, one.milliseconds, one.milliseconds / 4);
    else if (one.kind === 'crash') {
      crash.now();
      await ticks(4);
      await crash.bury(core);
      running[service] = await start();
      ({ core } = running[service]);
    } else {
      begin(core, one)
        ?.then(
          (answer) => remember(answers, one, answer),
          (error: Error) => ok('code' in error, error),
        )
        .catch((problem: unknown) => problems.push(problem));
      await ticks(one.kind === 'sms' ? 1 : 2);
    }
    // A balance and its ledger are read one after the other.
    await ticks(0);
    const { balance } = await core.operations.getBalance(caller);
    ok(balance >= 0, `the balance is ${balance}`);
    equal(await ledgerDifference(core), 0, 'the balance is not the sum of its ledger');
    for (const problem of problems) throw problem;
  }

  await pass(clock, leaseTime + 60_000, 500);
  await settle(core, clock);
  for (const problem of problems) throw problem;
  await checkBooks(core);
  await checkCredits(core, credits);
  for (const [name, answer] of answers) {
    const repeat = await replayOf(core, name);
    equal(JSON.stringify([repeat?.status, repeat?.body]), answer, 'a repeat has another answer');
  }
  for (const { core } of running) await core.close();
}

interface Running {
  crash: Crash;
  core: Core;
}

/** All answers to one key are the same. */
function remember(answers: Map<string, string>, step: Step, answer: unknown): void {
  if (!('key' in step) || step.key === null) return;
  const { status, body } = answer as { status: number; body: object };
  const name = `key ${step.key}`;
  const text = JSON.stringify([status, body]);
  equal(answers.get(name) ?? text, text, 'one key has two answers');
  answers.set(name, text);
}

/** Every message has ended; what is sent was delivered once and paid for, what failed was not and cost nothing. */
async function checkBooks(core: Core): Promise<void> {
  const delivered = (await outboxOf(core)).map(({ message_id }) => message_id);
  equal(new Set(delivered).size, delivered.length, 'a message was delivered twice');
  let spent = 0;
  let price = 0;
  let sent = 0;
  for (const { reason, amount, subject_id } of await core.administration.ledger()) {
    if (reason === 'opening' || reason === 'credit') continue;
    spent -= amount;
    const id = subject_id ?? '';
    if (reason === 'verification') {
      const { credits } = await core.operations.getVerification(caller, id);
      price += credits;
      if (credits > 0) sent += 1;
    }
    for (const message of await messagesOf(core, reason, id)) {
      price += message.credits;
      equal(message.status, message.credits > 0 ? 'sent' : 'failed', 'a message has not ended');
      equal(
        delivered.includes(message.id),
        message.status === 'sent',
        'what is sent is not what was delivered',
      );
      if (message.status === 'sent') sent += 1;
    }
  }
  equal(spent, price, 'what was spent is not the price of what was sent');
  equal(delivered.length, sent, 'more was delivered than sent');
}

/** The credits that were given are those in the ledger, and no more was taken than was asked for. */
async function checkCredits({ administration }: Core, given: readonly number[]): Promise<void> {
  const entries = (await administration.ledger()).filter(({ reason }) => reason === 'credit');
  const booked = entries.map(({ amount }) => amount);
  const added = (amounts: readonly number[]) => amounts.filter((amount) => amount > 0);
  const taken = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum - Math.min(0, amount), 0);
  deepEqual(added(booked), added(given), 'there are other credits than were given');
  ok(taken(booked) <= taken(given), 'more was taken than was asked for');
}

async function messagesOf({ operations }: Core, reason: string, id: string): Promise<Message[]> {
  if (reason === 'message') return [await operations.getMessage(caller, id)];
  if (reason !== 'batch') return [];
  const { status, total, ...batch } = await operations.getBatch(caller, id);
  const { data } = await operations.listBatchMessages(caller, id, { limit: 100, after: null });
  const sent = data.filter((message) => message.status === 'sent').length;
  const counted = { status, total, sent: batch.sent, failed: batch.failed };
  const due = { status: 'completed', total: data.length, sent, failed: data.length - sent };
  deepEqual(counted, due, 'a batch does not count its messages');
  return data;
}
