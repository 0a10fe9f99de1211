import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/contract/index.js';
import type { Carrier } from '../../src/service/carriers/carrier.js';
import { ManualClock } from '../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../src/service/core.js';
import { leaseTime } from '../../src/service/delivery/delivery.js';
import { Cores, caller, ledgerDifference, outboxOf, pass, turns } from '../support/cores.js';
import { Crash, collectGarbage } from '../support/crash.js';

/** Sequences of operations; `npm run torture` asks for 10,000. */
const sequences = Number(process.env.URTUU_TORTURE_SEQUENCES ?? 40);

/** Milliseconds. */
const timeLimit = 60_000 + sequences * 500;

const cores = new Cores();
afterAll(() => cores.closeAll());

type Step =
  | { kind: 'sms' | 'email'; to: number; key: number | null }
  | { kind: 'smsBulk' | 'emailBulk'; to: number[]; key: number | null }
  | { kind: 'verify'; to: number }
  | { kind: 'credit'; amount: number }
  | { kind: 'time'; milliseconds: number }
  | { kind: 'crash' };

// Few recipients and few keys, so that caps and repeats happen; some are refused by their operator.
const numbers = ['99112233', '88112233', '91112233', '99000001', '99000002', '99000006', '99000008'];
const addresses = ['a@x.mn', 'b@x.mn', 'fault-refused@x.mn', 'fault-answer-lost@x.mn'];
const number = (index: number) => numbers[index % numbers.length] ?? '';
const address = (index: number) => addresses[index % addresses.length] ?? '';

const index = fc.nat(20);
const key = fc.option(fc.nat(6), { freq: 2 });
const list = fc.array(index, { minLength: 1, maxLength: 7 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('sms', 'email'), to: index, key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('smsBulk', 'emailBulk'), to: list, key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('verify'), to: index }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('credit'), amount: fc.integer({ min: -300, max: 200 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('time'), milliseconds: fc.integer({ min: 1, max: 400_000 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash') }) },
) as fc.Arbitrary<Step>;

/** A carrier that sometimes refuses, and sometimes loses its answer, by a sequence of its own. */
function moody(carrier: Carrier, moods: number[]): Carrier {
  let turn = 0;
  return {
    inquire: carrier.inquire,
    async submit(submission) {
      const mood = moods[turn++ % moods.length];
      if (mood === 0) return { kind: 'refused', reason: 'a mood' };
      if (mood === 1) throw new Error('lost before');
      const answer = await carrier.submit(submission);
      if (mood === 2) throw new Error('lost after');
      return answer;
    },
  };
}

/** Does a step without waiting for its end, as a client whose service may die would. */
function begin({ operations }: Core, given: Step): Promise<unknown> | null {
  const named = 'key' in given && given.key !== null ? `key ${given.key}` : null;
  switch (given.kind) {
    case 'sms': {
      const params = { to: number(given.to), text: 'Сайн' };
      return operations.sendSms({ caller, params, idempotencyKey: named });
    }
    case 'email': {
      const params = { to: address(given.to), subject: 'S', text: 'T' };
      return operations.sendEmail({ caller, params, idempotencyKey: named });
    }
    case 'smsBulk': {
      const params = { to: given.to.map(number), text: 'Сайн' };
      return operations.sendSmsBulk({ caller, params, idempotencyKey: named });
    }
    case 'emailBulk': {
      const params = { to: given.to.map(address), subject: 'S', text: 'T' };
      return operations.sendEmailBulk({ caller, params, idempotencyKey: named });
    }
    case 'verify':
      return operations.createVerification(caller, { to: number(given.to) });
    default:
      return null;
  }
}

describe('money', () => {
  it(
    'the ledger is exact and nothing is sent twice, whatever happens',
    async () => {
      let runs = 0;
      const moods = fc.array(fc.nat(12), { minLength: 1, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), moods, async (steps, given) => {
          const directory = cores.folder();
          const clock = new ManualClock(Date.UTC(2026, 5, 1));
          let crash = new Crash();
          const open = () => cores.openMortal({ directory, clock, rates: 'off' }, moodyDoubles(crash, given));
          let core = await open();
          await core.administration.credit(-99_600);
          const answers = new Map<string, string>();

          for (const one of steps) {
            if (one.kind === 'credit') await core.administration.credit(one.amount);
            else if (one.kind === 'time') await pass(clock, one.milliseconds, one.milliseconds / 4);
            else if (one.kind === 'crash') {
              crash.now();
              await turns(4);
              await crash.bury(core);
              crash = new Crash();
              core = await open();
            } else {
              begin(core, one)?.then(
                (answer) => remember(answers, one, answer),
                (error: Error) => expect(error).toHaveProperty('code'),
              );
              await turns(one.kind === 'sms' ? 1 : 2);
            }
            const { balance } = await core.operations.getBalance(caller);
            expect(balance).toBeGreaterThanOrEqual(0);
            expect(await ledgerDifference(core)).toBe(0);
          }

          await pass(clock, leaseTime + 60_000, 500);
          await core.administration.settled();
          await expectConsistent(core);
          for (const [name, answer] of answers) {
            const repeat = await core.operations.findAnswer(caller, name);
            expect(JSON.stringify([repeat?.status, repeat?.body])).toBe(answer);
          }
          await core.close();
          rmSync(directory, { recursive: true });
          if (++runs % 50 === 0) {
            collectGarbage();
            await turns();
          }
        }),
        { numRuns: sequences },
      );
    },
    timeLimit,
  );
});

function moodyDoubles({ doubles }: Crash, moods: number[]): CoreDoubles {
  return { ...doubles, carrier: (real) => moody(doubles.carrier?.(real) ?? real, moods) };
}

function remember(answers: Map<string, string>, step: Step, answer: unknown): void {
  if (!('key' in step) || step.key === null) return;
  const { status, body } = answer as { status: number; body: object };
  const name = `key ${step.key}`;
  const text = JSON.stringify([status, body]);
  expect(answers.get(name) ?? text).toBe(text);
  answers.set(name, text);
}

/** Every message has ended; what is sent was delivered once and paid for, what failed was not and cost nothing. */
async function expectConsistent(core: Core): Promise<void> {
  const delivered = (await outboxOf(core)).map(({ message_id }) => message_id);
  expect(new Set(delivered).size).toBe(delivered.length);
  let [spent, price, sent] = [0, 0, 0];
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
      expect(message.status).toBe(message.credits > 0 ? 'sent' : 'failed');
      expect(delivered.includes(message.id)).toBe(message.status === 'sent');
      if (message.status === 'sent') sent += 1;
    }
  }
  expect(spent).toBe(price);
  expect(delivered).toHaveLength(sent);
}

async function messagesOf({ operations }: Core, reason: string, id: string): Promise<Message[]> {
  if (reason === 'message') return [await operations.getMessage(caller, id)];
  if (reason !== 'batch') return [];
  const batch = await operations.getBatch(caller, id);
  const { data } = await operations.listBatchMessages(caller, id, { limit: 100, after: null });
  const sent = data.filter(({ status }) => status === 'sent').length;
  expect(batch).toMatchObject({ status: 'completed', total: data.length, sent, failed: data.length - sent });
  return data;
}
