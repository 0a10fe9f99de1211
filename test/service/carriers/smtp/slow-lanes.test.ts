import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierServices } from '../../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { Relay, type Step } from '../../../support/relay.js';

let services: CarrierServices;
let relay: Relay;
let shop: string;

beforeEach(async () => {
  relay = new Relay();
  const port = await relay.listen();
  services = new CarrierServices();
  await services.open(
    services.configured('off', {
      smtp: `smtp://127.0.0.1:${port}`,
      from: 'no-reply@example.mn',
      // One, so that the mail that was heard last is the one that is answered.
      connections: 1,
    }),
  );
  const { administration } = services.core;
  shop = (await administration.createProject('shop')).id;
  await (await administration.project(shop))?.settings.update({ own_domain: { domain: 'shop.mn' } });
});
afterEach(async () => {
  await services.closeAll();
  await relay.close();
});

/** Replies to mails from a domain at a step. */
function refuse(domain: string, at: Step, reply: string): void {
  relay.options.react = (step) => {
    const mail = [...relay.heard].reverse().find((line) => line.startsWith('MAIL'));
    return step === at && mail?.includes(`@${domain}>`) ? reply : null;
  };
}
const content = { subject: 'S', text: 'T' };
const batch = (projectId: string, to: string[]) =>
  services.core.operations.sendEmailBulk({
    caller: { ...caller, projectId },
    params: { to, ...content },
    idempotencyKey: null,
  });
const addresses = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);
const takenOf = (to: readonly string[]) => relay.taken.filter((mail) => to.includes(mail.to)).length;
const mailsFrom = (domain: string) => relay.heard.filter((line) => line.includes(`@${domain}>`)).length;
const warnings = () =>
  services.cores.faults.filter(({ code }) => code === 'LaneWarning').map(({ stack }) => stack);

describe('a sender that a relay puts off', () => {
  it.each<[Step, string]>([
    ['MAIL', '450 4.7.1 Sender put off'],
    ['MAIL', '421 4.7.0 Too much from you'],
    ['body', '451 4.7.1 Try again later'],
    ['RCPT', '450 4.2.0 Greylisted'],
  ])('at %s with %s delays nobody else', async (step, reply) => {
    refuse('shop.mn', step, reply);
    const theirs = addresses('shop', 60);
    await batch(shop, theirs);
    const from = services.clock.monotonic();
    const mine = addresses('mine', 20);
    const codes = addresses('code', 5);
    await batch(caller.projectId, mine);
    for (const to of codes) await services.core.operations.createVerification(caller, { to });
    await services.pass(() => takenOf([...mine, ...codes]) === 25, 50);
    // Greylisted mails are each tried once, before those that came later.
    expect(services.clock.monotonic() - from).toBeLessThan(step === 'RCPT' ? 3_000 : 2_000);
    await services.pass(() => services.clock.monotonic() > from + 5_000, 100);
    const before = mailsFrom('shop.mn');
    for (let second = 0; second < 10; second += 1) {
      const code = `later${second}@example.com`;
      await services.core.operations.createVerification(caller, { to: code });
      const asked = services.clock.monotonic();
      await services.pass(() => takenOf([code]) === 1, 50);
      expect(services.clock.monotonic() - asked).toBeLessThan(1_500);
      await services.pass(() => services.clock.monotonic() >= asked + 1_000, 100);
    }
    // Greylisting says nothing of the sender: each mail by its own schedule.
    if (step !== 'RCPT') {
      expect(mailsFrom('shop.mn') - before).toBeLessThan(20);
      expect(warnings()).toContainEqual(
        expect.stringContaining(`lane email, project ${shop}: nothing accepted`),
      );
    }
    delete relay.options.react;
    await services.pass(() => takenOf(theirs) === 60, 1_000);
    expect(relay.taken).toHaveLength(60 + 25 + 10);
    expect(await ledgerDifference(services.core)).toBe(0);
  });
});

describe('a project whose text a relay puts off', () => {
  it('delays nobody else of the domain that both send from', async () => {
    const { administration } = services.core;
    const bad = (await administration.createProject('bad')).id;
    const theirs = addresses('bad', 60);
    relay.options.react = (step, _, to) =>
      step === 'body' && theirs.includes(to) ? '451 4.7.1 Text put off' : null;
    await batch(bad, theirs);
    // It is known by then.
    await services.pass(() => warnings().length > 0, 50);
    for (let second = 0; second < 10; second += 1) {
      const mine = addresses(`mine${second}-`, 10);
      const asked = services.clock.monotonic();
      await batch(caller.projectId, mine);
      await services.pass(() => takenOf(mine) === 10, 50);
      expect(services.clock.monotonic() - asked).toBeLessThan(1_500);
    }
    expect(warnings()).toContainEqual(expect.stringContaining(`project ${bad}: nothing accepted`));
    expect(warnings().filter((line) => line.includes(caller.projectId))).toEqual([]);
    delete relay.options.react;
    await services.pass(() => takenOf(theirs) === 60, 1_000);
  });
});

describe('a sender or a mail that a relay refuses for good at MAIL FROM', () => {
  it.each(['550 5.7.1 Sender rejected: not yours', '552 5.3.4 Message size exceeds fixed limit'])(
    'with %s fails at once and is refunded, with the words of the relay, and delays nobody',
    async (reply) => {
      refuse('shop.mn', 'MAIL', reply);
      const { body } = await batch(shop, addresses('shop', 3));
      await batch(caller.projectId, addresses('mine', 3));
      const from = services.clock.monotonic();
      await services.pass(() => relay.taken.length === 3, 50);
      const { id } = body as { id: string };
      const read = { ...caller, projectId: shop };
      await services.pass(
        async () => (await services.core.operations.getBatch(read, id)).status === 'completed',
        50,
      );
      expect(services.clock.monotonic() - from).toBeLessThan(1_000);
      const page = { limit: 10, after: null };
      const { data } = await services.core.operations.listBatchMessages(read, id, page);
      for (const message of data)
        expect(message).toMatchObject({
          status: 'failed',
          credits: 0,
          error: { code: 'provider_failed', message: expect.stringContaining(reply) },
        });
      expect(mailsFrom('shop.mn')).toBe(3);
      expect(warnings().filter((line) => line.includes(reply.slice(0, 30)))).toEqual([
        expect.stringContaining(`lane email, project ${shop}: refused by its carrier: 55`),
      ]);
    },
  );
});
