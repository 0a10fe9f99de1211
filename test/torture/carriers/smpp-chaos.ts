import { statuses } from '../../../src/service/carriers/smpp/codec/commands.js';
import type { CoreDoubles } from '../../../src/service/core.js';
import { CarrierServices, judge } from '../../support/carrier-services.js';
import { seededRandom } from '../../support/random.js';
import { type Reaction, Smsc, type TakenSegment } from '../../support/smsc.js';

const reactions: Reaction[] = [
  'cut_before',
  'cut_after',
  'lost',
  'unanswered',
  'nack',
  'take_twice_answered',
  'take_without_id',
  statuses.throttled,
  statuses.queueFull,
  statuses.systemError,
  statuses.invalidRecipient,
  0x45,
];
const numbers = Array.from({ length: 30 }, (_, index) => `${99_000_100 + index}`);
const texts = ['Hello', 'a'.repeat(200), 'Сайн байна уу'.padEnd(180, '.')];

/** A centre that does anything at all, for a while; answers and receipts come in any order, late and twice. */
function chaos(random: () => number): Smsc {
  const later: (() => void)[] = [];
  const smsc = new Smsc({
    idOf: (number) => (1_000 + number).toString(16),
    react: (_, index) => {
      if (index > 120 || random() < 0.7) return 'take';
      return reactions[Math.floor(random() * reactions.length)] as Reaction;
    },
    onTaken(segment, answer) {
      const receipt =
        (stat = 'DELIVRD') =>
        () => {
          const id = `${Number.parseInt(segment.id, 16)}`;
          // Over any connection, or over all.
          if (random() < 0.5) void smsc.deliverReceipt(segment, stat, id);
          else smsc.sendReceipt(segment, stat, id, echoed(segment));
        };
      later.push(answer, receipt('ENROUTE'), receipt());
      if (random() < 0.2) later.push(receipt());
      while (later.length > (random() < 0.2 ? 0 : 4)) {
        const [next] = later.splice(Math.floor(random() * later.length), 1);
        next?.();
      }
      if (later.length > 0) setImmediate(flush);
    },
  });
  const flush = () => {
    for (const next of later.splice(0)) next();
  };
  const echoed = ({ reference }: TakenSegment) => (random() < 0.5 ? reference : null);
  return smsc;
}

/** A batch over two centres, one of which does anything at all. Throws when anything is twice, lost or untrue. */
export async function playSmppChaos(seed: number, doubles: CoreDoubles = {}): Promise<{ sent: number }> {
  const random = seededRandom(seed);
  const services = new CarrierServices();
  const smsc = chaos(random);
  const other = new Smsc({ idOf: (number) => number.toString(16) });
  const ports = [await smsc.listen(), await other.listen()];
  const route = (index: number, changes: object) => ({
    smpp: `smpp://127.0.0.1:${ports[index]}`,
    system_id: 'urtuu',
    password: { env: 'PASSWORD' },
    per_second: 500,
    receipt_id: 'hex_to_dec',
    window: 1 + Math.floor(random() * 8),
    binds: 1 + Math.floor(random() * 2),
    segments: (['udh', 'sar'] as const)[Math.floor(random() * 2)],
    bind: (['transceiver', 'transmitter+receiver'] as const)[Math.floor(random() * 2)],
    ...changes,
  });
  try {
    await services.open(
      services.configured({
        routes: [
          route(0, { name: 'Mobicom', prefixes: ['99'], fallback: ['no-link'] }),
          route(1, { name: 'no-link', links: false }),
        ],
      }),
      doubles,
    );
    const batch = await services.sendBatch(numbers, texts[seed % texts.length] as string);
    await services.completed(batch);
    await judge(services, batch, [...smsc.taken, ...other.taken]);
    const messages = await services.messagesOf(batch);
    if (messages.length !== numbers.length)
      throw new Error(`${messages.length} messages of ${numbers.length}`);
    return { sent: messages.filter(({ status }) => status === 'sent').length };
  } finally {
    await services.closeAll();
    await Promise.all([smsc.close(), other.close()]);
  }
}
