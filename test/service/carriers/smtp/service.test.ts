import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CoreDoubles } from '../../../../src/service/core.js';
import { CarrierServices } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { crashPoints } from '../../../support/crash.js';
import { Relay } from '../../../support/relay.js';

let services: CarrierServices;
let relay: Relay;
let port: number;

beforeEach(async () => {
  relay = new Relay();
  port = await relay.listen();
  services = new CarrierServices();
});
afterEach(async () => {
  await services.closeAll();
  await relay.close();
});

const configured = (changes: object = {}) =>
  services.configured('off', {
    smtp: `smtp://127.0.0.1:${port}`,
    from: 'no-reply@example.mn',
    bounce_domain: 'bounce.example.mn',
    connections: 2,
    ...changes,
  });
const addresses = Array.from({ length: 7 }, (_, index) => `p${index}@example.com`);
const email = { subject: 'Тавтай морил', text: 'a'.repeat(500) };

async function sendBatch(to = addresses, core = services.core): Promise<string> {
  const call = { caller, params: { to, ...email }, idempotencyKey: 'batch' };
  return ((await core.operations.sendEmailBulk(call)).body as { id: string }).id;
}

const takenTwice = () => {
  const ids = relay.taken.map(({ raw }) => /^Message-ID: (.*)/im.exec(raw)?.[1]);
  return ids.filter((id, index) => ids.indexOf(id) !== index);
};

/** Nothing is twice and nothing lost: the number of unknown messages. */
async function judge(batch: string): Promise<number> {
  const messages = await services.messagesOf(batch);
  expect(messages).toHaveLength(addresses.length);
  expect(takenTwice()).toEqual([]);
  for (const { to, status, delivery } of messages) {
    const taken = relay.taken.filter((mail) => mail.to === to);
    if (status === 'failed') expect(taken).toEqual([]);
    else if (delivery === null) expect(taken).toHaveLength(1);
  }
  expect(await ledgerDifference(services.core)).toBe(0);
  return messages.filter(({ delivery }) => delivery === 'unknown').length;
}

describe('a service with a mail relay', () => {
  it('sends', async () => {
    await services.open(configured());
    const params = { to: 'bold@example.com', subject: 'Сайн уу', text: 'Сайн уу' };
    const { body } = await services.core.operations.sendEmail({ caller, params, idempotencyKey: null });
    const { id } = body as { id: string };
    await services.pass(
      async () => (await services.core.operations.getMessage(caller, id)).status === 'sent',
    );
    expect(relay.taken).toMatchObject([
      { to: 'bold@example.com', from: expect.stringMatching(`^bounce\\+${id}\\.[0-9a-f]{20}@bounce`) },
    ]);
    expect(relay.taken[0]?.raw).toContain(`Message-ID: <${id}@example.mn>`);
    expect(services.core.channels).toEqual({ sms: 'off', email: 'real' });
  });

  it('refunds a mail that its relay refuses, with the reply', async () => {
    relay.options.react = (step) => (step === 'RCPT' ? '550 5.1.1 User unknown' : null);
    await services.open(configured());
    const batch = await sendBatch(['bold@example.com']);
    await services.completed(batch);
    expect(await services.messagesOf(batch)).toMatchObject([
      {
        status: 'failed',
        credits: 0,
        error: { code: 'provider_failed', message: expect.stringContaining('550 5.1.1 User unknown') },
      },
    ]);
  });

  it('marks nothing while its relay is away, and sends once it is back', async () => {
    await relay.close();
    let marks = 0;
    const store: CoreDoubles['store'] = (inner) => ({
      ...inner,
      markSubmitting(given) {
        marks += given.length;
        return inner.markSubmitting(given);
      },
    });
    await services.open(configured(), { store });
    const batch = await sendBatch();
    let passed = 0;
    await services.pass(() => {
      passed += 1;
      return passed > 100;
    });
    expect(marks).toBe(0);
    await relay.listen(port);
    await services.completed(batch);
    expect(await judge(batch)).toBe(0);
  });
});

describe('a process that dies', () => {
  const points = crashPoints(['markSubmitting', 'finalizeMessages', 'claimMessages']);

  it.each(points)('$when $method $call leaves no more unknown than its connections', async (point) => {
    await services.die(point, configured(), {
      send: (dying) => sendBatch(addresses, dying),
      isOver: () => relay.taken.length === addresses.length,
      cut: () => relay.cut(),
    });
    const batch = await sendBatch();
    await services.completed(batch);
    expect(await judge(batch)).toBeLessThanOrEqual(2);
  });
});
