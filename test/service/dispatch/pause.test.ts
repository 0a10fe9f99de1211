import { afterEach, describe, expect, it } from 'vitest';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../src/service/clock.js';
import { leaseTime } from '../../../src/service/dispatch/held-leases.js';
import { Cores, caller, outboxOf, pass, ticks } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

/** A process that is paused just before or just behind a submission, while another one goes on. */
async function pausedAt(moment: 'before' | 'behind') {
  const directory = cores.folder();
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const submit = (carrier: Carrier): Carrier['submit'] =>
    async function submitLate(submission, signal) {
      if (moment === 'before') await gate;
      const answer = await carrier.submit(submission, signal);
      if (moment === 'behind') await gate;
      return answer;
    };
  const start = Date.now();
  const paused = await cores.openWithCarrier({ directory, clock: new ManualClock(start) }, (carrier) => ({
    submit: submit(carrier),
  }));
  const params = { to: '99112233', text: 'Hello' };
  const answer = paused.operations.sendSms({ caller, params, idempotencyKey: 'k1' });
  await ticks();
  const clock = new ManualClock(start);
  const other = await cores.open({ directory, clock });
  await pass(clock, leaseTime + 1_000);
  await other.administration.idle();
  await other.administration.credit(500);
  goOn();
  return { answer: await answer, other };
}

describe.each(['before', 'behind'] as const)('a process that is paused %s a submission', (moment) => {
  it('does not send what another has sent meanwhile', async () => {
    const { other } = await pausedAt(moment);
    expect(await outboxOf(other)).toHaveLength(1);
    expect(await other.carrier.outbox.repeats()).toBe(0);
  });

  it('answers what is bound to the key [Idempotency 1]', async () => {
    const { answer, other } = await pausedAt(moment);
    expect(answer).toMatchObject({ status: 200, replayed: false });
    const params = { to: '99112233', text: 'Hello' };
    const repeat = await other.operations.sendSms({ caller, params, idempotencyKey: 'k1' });
    expect(repeat).toEqual({ ...answer, replayed: true });
  });
});
