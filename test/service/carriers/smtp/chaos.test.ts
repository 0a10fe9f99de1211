import { expect, it, onTestFinished } from 'vitest';
import { caller, ledgerDifference } from '../../../support/cores.js';
import { seededRandom } from '../../../support/random.js';
import { type Reaction, Relay } from '../../../support/relay.js';
import { SmppServices } from '../../../support/smpp-service.js';

const addresses = Array.from({ length: 30 }, (_, index) => `p${index}@example.com`);

const reactions = (random: () => number): Reaction[] => [
  'cut',
  'silent',
  '421 4.3.2 Closing',
  '450 4.2.1 Later',
  '530 5.7.0 Log in first',
  '550 5.1.1 Unknown',
  '250 Ok\r\n250 Ok',
  '250-Ok',
  '\r\n',
  '354 Go on',
  '',
  Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256))).toString('latin1'),
];

it.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'nothing is twice and nothing lost with a relay that answers anything (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const services = new SmppServices();
    let replies = 0;
    const relay = new Relay({
      isPipelining: seed % 2 === 0,
      react() {
        replies += 1;
        const all = reactions(random);
        const isUsual = replies > 200 || random() < 0.8;
        return isUsual ? null : (all[Math.floor(random() * all.length)] as Reaction);
      },
    });
    const port = await relay.listen();
    onTestFinished(async () => {
      await services.closeAll();
      await relay.close();
    });
    const connections = 1 + Math.floor(random() * 5);
    const email = { smtp: `smtp://127.0.0.1:${port}`, from: 'a@example.mn', connections };
    await services.open(services.configured('off', email));
    const params = { to: addresses, subject: 'Сайн уу', text: 'a'.repeat(seed % 4 === 0 ? 100_000 : 100) };
    const call = { caller, params, idempotencyKey: null };
    const batch = ((await services.core.operations.sendEmailBulk(call)).body as { id: string }).id;
    await services.pass(
      async () => (await services.core.operations.getBatch(caller, batch)).status === 'completed',
      1_000,
      86_400_000,
    );
    const messages = await services.messagesOf(batch);
    expect(messages).toHaveLength(addresses.length);
    for (const { to, status, delivery } of messages) {
      const taken = relay.taken.filter((mail) => mail.to === to);
      expect(taken.length).toBeLessThanOrEqual(1);
      if (status === 'failed') expect(taken).toEqual([]);
      else if (delivery === null) expect(taken).toHaveLength(1);
    }
    expect(messages.some(({ status, delivery }) => status === 'sent' && delivery === null)).toBe(true);
    expect(await ledgerDifference(services.core)).toBe(0);
  },
);
