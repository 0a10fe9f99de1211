import fc from 'fast-check';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import type { Core } from '../../../src/service/core.js';
import { caller } from '../../support/cores.js';

/** One thing that happens to a service. */
export type Step =
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
export const step: fc.Arbitrary<Step> = fc.oneof(
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
export function moody(carrier: Carrier, moods: number[]): Carrier {
  let calls = 0;
  return {
    ...carrier,
    capacity: (lane) => carrier.capacity(lane),
    async submit(submission, signal) {
      const mood = moods[calls++ % moods.length];
      if (mood === 0) return { kind: 'refused', reason: 'a mood', tryNextRoute: true };
      if (mood === 1) throw new Error('lost before');
      const answer = await carrier.submit(submission, signal);
      if (mood === 2) throw new Error('lost after');
      return answer;
    },
  };
}

/** Does a step without waiting for its end, as a client whose service may die would. */
export function begin({ operations }: Core, given: Step): Promise<unknown> | null {
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
