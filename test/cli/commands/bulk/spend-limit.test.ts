import { describe, expect, it } from 'vitest';
import type { SendingClient } from '../../../../src/cli/bulk/send/send-once.js';
import { judgeJob } from '../../../../src/cli/commands/bulk/verdict.js';
import type { Pricing } from '../../../../src/contract/index.js';
import { pricing } from '../../../support/resources.js';
import { memoryPlan, numbers } from '../../bulk/memory-plan.js';
import { clientOf, Refused } from '../../bulk/model-service.js';
import { setting } from '../../bulk/run-in.js';

const singles = memoryPlan(numbers(20).map((to) => ({ to: [to], text: `to ${to}` })));
const batches = memoryPlan([0, 1, 2, 3].map((at) => ({ to: numbers(3, at * 10), text: `batch ${at}` })));

const pricingOf = (perPart: number): Pricing => ({
  ...pricing,
  sms: { ...pricing.sms, credits_per_part: perPart },
});

/** A service that charges this much a recipient; its price list says so, and so do its answers. */
function charging(
  given: ReturnType<typeof setting>,
  price: () => number,
  said: () => number = price,
): SendingClient & { asked: number } {
  const client = clientOf(given.service, async (call) => {
    const result = call() as { total?: number };
    return { ...result, credits: (result.total ?? 1) * price() };
  });
  const charged = { ...client, asked: 0, pricing: { get: async () => pricingOf(said()) } };
  const { get } = charged.pricing;
  charged.pricing.get = () => {
    charged.asked += 1;
    return get();
  };
  return charged;
}

describe('--max-credits', () => {
  it.each([1, 8])('is kept when the price has risen since the plan, with %i at once', async (concurrency) => {
    const given = setting({}, singles);
    const client = charging(given, () => 21);
    const { state, ending } = await given.run(client, { maxCredits: 160, concurrency });
    expect(state.credits).toBeLessThanOrEqual(160);
    expect(state.counts).toMatchObject({ accepted: 7, pending: 13, in_doubt: 0 });
    expect(judgeJob(state, ending).exit).toBe(7);
  });

  it('counts what is in flight at the dearest price that was seen', async () => {
    const given = setting({}, singles);
    // The list keeps the old price; the first answer tells of the new one.
    const client = charging(
      given,
      () => 40,
      () => 10,
    );
    const { state } = await given.run(client, { maxCredits: 160, concurrency: 1 });
    expect(state.credits).toBe(160);
    const again = charging(
      given,
      () => 40,
      () => 10,
    );
    expect((await given.run(again, { concurrency: 1 })).state.credits).toBe(160);
  });

  it('reads the price again at each run, and after an answer dearer than all that is known', async () => {
    const given = setting({}, singles);
    let price = 10;
    const client = charging(given, () => price);
    const first = await given.run(
      {
        ...client,
        send(request) {
          if (given.service.accepted.size === 3) price = 30;
          return client.send(request);
        },
      },
      { maxCredits: 100, concurrency: 1 },
    );
    expect(client.asked).toBe(2);
    expect(first.state.credits).toBe(90);
  });

  it('stays in the job: only another one changes it', async () => {
    const given = setting({}, singles);
    const client = charging(given, () => 10);
    expect((await given.run(client, { maxCredits: 50 })).state.credits).toBe(50);
    expect((await given.run(client)).state.credits).toBe(50);
    expect((await given.run(client, { maxCredits: 80 })).state.credits).toBe(80);
    expect((await given.run(client, { maxCredits: 20 })).state.credits).toBe(80);
    const last = await given.run(client);
    expect([last.state.limit, judgeJob(last.state, last.ending).exit]).toEqual([20, 7]);
    const limits = (await given.entries()).filter(({ type }) => type === 'limit');
    expect(limits).toEqual([
      { type: 'limit', credits: 50 },
      { type: 'limit', credits: 80 },
      { type: 'limit', credits: 20 },
    ]);
  });

  it('counts what is in doubt, in this run and from earlier ones: it may have been charged', async () => {
    const given = setting({}, batches);
    const losing = clientOf(given.service, async (call) => {
      call();
      throw new Refused('timeout', null);
    });
    const first = await given.run(losing, { maxCredits: 65, maxWait: 0, concurrency: 1 });
    expect(first.state.counts).toMatchObject({ in_doubt: 3, pending: 9 });
    // Doubt is resolved, and the second batch fits; the third would not.
    const refusing = clientOf(given.service, async (call) => {
      if (given.service.keys.at(-1) === given.service.keys[0]) throw new Refused('unavailable', 503);
      return call();
    });
    const second = await given.run(refusing, { maxWait: 0, concurrency: 1 });
    expect(second.state.counts).toMatchObject({ in_doubt: 3 });
    expect(given.service.accepted.size * 10).toBeLessThanOrEqual(65);
    const third = await given.run();
    expect(third.state.counts).toMatchObject({ accepted: 6, in_doubt: 0, pending: 6 });
    expect(judgeJob(third.state, third.ending).exit).toBe(7);
  });

  it('sends nothing where nothing says what it costs', async () => {
    const unpriced = setting(
      {},
      {
        ...singles,
        async *requests(first = 0) {
          for await (const request of singles.requests(first)) yield { ...request, credits: 0 };
        },
      },
    );
    const { state } = await unpriced.run(clientOf(unpriced.service), { maxCredits: 1_000 });
    expect(state.counts.pending).toBe(20);
    const priced = await unpriced.run(charging(unpriced, () => 10));
    expect(priced.state.counts.accepted).toBe(20);
  });

  it('asks for no price where there is no limit', async () => {
    const given = setting({}, singles);
    const client = charging(given, () => 10);
    await given.run(client);
    expect(client.asked).toBe(0);
  });
});
