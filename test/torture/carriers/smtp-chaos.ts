import type { Message } from '../../../src/contract/index.js';
import type { CoreDoubles } from '../../../src/service/core.js';
import { CarrierServices } from '../../support/carrier-services.js';
import { caller, ledgerDifference } from '../../support/cores.js';
import { seededRandom } from '../../support/random.js';
import { type Reaction, Relay, type RelayOptions } from '../../support/relay.js';

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

export interface MailsPlayed {
  /** Sent, and not unknown. */
  sent: number;
  unknown: number;
  replies: number;
  /** Bytes of the longest mail. */
  longest: number;
}

/** A batch of mails over a relay. Throws when anything is twice, lost or untrue. */
export async function playMails(
  options: RelayOptions,
  batch: { mails: number; text: string; connections: number },
  doubles: CoreDoubles = {},
): Promise<MailsPlayed> {
  const services = new CarrierServices();
  const relay = new Relay(options);
  const smtp = `smtp://127.0.0.1:${await relay.listen()}`;
  try {
    const email = { smtp, from: 'a@example.mn', connections: batch.connections };
    await services.open(services.configured('off', email), doubles);
    const to = Array.from({ length: batch.mails }, (_, index) => `p${index}@example.com`);
    const params = { to, subject: 'Сайн уу', text: batch.text };
    const call = { caller, params, idempotencyKey: null };
    const { id } = (await services.core.operations.sendEmailBulk(call)).body as { id: string };
    await services.pass(
      async () => (await services.core.operations.getBatch(caller, id)).status === 'completed',
      untilReply(relay),
      86_400_000,
    );
    const messages = await services.messagesOf(id);
    const problems = messages.flatMap((message) => problemOf(message, relay));
    if (messages.length !== batch.mails) problems.push(`${messages.length} messages`);
    const difference = await ledgerDifference(services.core);
    if (difference !== 0) problems.push(`the balance is ${difference} off`);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return {
      sent: messages.filter(({ status, delivery }) => status === 'sent' && delivery === null).length,
      unknown: messages.filter(({ delivery }) => delivery === 'unknown').length,
      replies: relay.replies,
      longest: Math.max(0, ...relay.taken.map(({ raw }) => raw.length)),
    };
  } finally {
    await services.closeAll();
    await relay.close();
  }
}

/** Steps of a second, and longer and longer ones while the relay says nothing: a doubt lasts for minutes. */
function untilReply(relay: Relay): () => number {
  let replies = 0;
  let step = 1_000;
  return () => {
    step = relay.replies === replies ? Math.min(2 * step, 16_000) : 1_000;
    replies = relay.replies;
    return step;
  };
}

function problemOf({ to, status, delivery }: Message, relay: Relay): string[] {
  const taken = relay.taken.filter((mail) => mail.to === to).length;
  const isTrue = status === 'failed' ? taken === 0 : delivery === 'unknown' ? taken <= 1 : taken === 1;
  return isTrue ? [] : [`${to} is ${status}, ${delivery}, taken ${taken} times`];
}

/** A relay that answers anything at all, for a while. */
export function playSmtpChaos(seed: number, doubles: CoreDoubles = {}): Promise<MailsPlayed> {
  const random = seededRandom(seed);
  let replies = 0;
  const relay: RelayOptions = {
    isPipelining: seed % 2 === 0,
    react() {
      replies += 1;
      const all = reactions(random);
      const isUsual = replies > 200 || random() < 0.8;
      return isUsual ? null : (all[Math.floor(random() * all.length)] as Reaction);
    },
  };
  const connections = 1 + Math.floor(random() * 5);
  return playMails(
    relay,
    { mails: 30, text: 'a'.repeat(seed % 4 === 0 ? 100_000 : 100), connections },
    doubles,
  );
}
