import type { Socket } from 'node:net';
import type { Message } from '../../../src/contract/index.js';
import type { Carrier, Reservation } from '../../../src/service/carriers/carrier.js';
import type { CoreDoubles } from '../../../src/service/core.js';
import type { Receipt } from '../../../src/service/storage/store.js';
import { CarrierServices } from '../../support/carrier-services.js';
import { caller } from '../../support/cores.js';
import { seededRandom } from '../../support/random.js';
import { type Reaction, Smsc, type TakenSegment } from '../../support/smsc.js';

const hour = 3_600_000;
const numbers = Array.from({ length: 8 }, (_, index) => `${99_000_100 + index}`);
const reactions: Reaction[] = ['take', 'take', 'take_without_id', 'unanswered', 'lost', 'cut_after'];
/** Of the same id, as other systems write it: none of them names our message. */
const spellings = [
  (id: string) => id.toLowerCase(),
  (id: string) => id.replace(/^0+/, ''),
  (id: string) => `${Number.parseInt(id, 16)}`,
];

/**
 * Three batches to the same numbers, of which some lose their answers; and before, meanwhile and a day later receipts
 * of other systems with the same account, and of the centre's own in other spellings. Throws when a message has a
 * delivery that is not its own; the messages in doubt.
 */
export async function playForeignReceipts(seed: number, doubles: CoreDoubles = {}): Promise<number> {
  const random = seededRandom(seed);
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const services = new CarrierServices();
  const idOf = (number: number) => `00B8${(0xbe00 + number).toString(16).toUpperCase()}`;
  const smsc = new Smsc({ idOf, react: () => pick(reactions) });
  const states = new Map<TakenSegment, string>();
  const stateOf = (segment: TakenSegment) => {
    const state = states.get(segment) ?? pick(['DELIVRD', 'UNDELIV']);
    states.set(segment, state);
    return state;
  };

  /** Nothing is being submitted, and something will be. */
  let isQuiet = true;
  /** One of 65,536 has the reference of a message to the same number by chance: nothing tells them apart. */
  const echoes = new Set<string>();
  const foreign = (to: string): void => {
    const reference = Math.floor(random() * 65_536)
      .toString(16)
      .padStart(4, '0');
    const segment = { id: '', to, reference } as TakenSegment;
    const submitted = new Date(services.clock.now() - random() * 40 * hour).toISOString();
    const date = submitted.replace(/\D/g, '').slice(2, 12);
    const id = `F${Math.floor(random() * 1e6)}`;
    // One that is given again, to a message that comes later.
    const next = isQuiet ? idOf(smsc.taken.length + numbers.indexOf(to) + 1) : id;
    const echoed = pick([null, reference]);
    if (echoed !== null) echoes.add(to + echoed);
    smsc.sendReceipt(
      segment,
      pick(['DELIVRD', 'UNDELIV']),
      pick([id, next]),
      echoed,
      pick([undefined, date]),
    );
  };
  const own = (segment: TakenSegment, isNamed: boolean): void => {
    if (isNamed) smsc.sendReceipt(segment, stateOf(segment), segment.id, pick([null, segment.reference]));
    else smsc.sendReceipt(segment, stateOf(segment), pick(spellings)(segment.id));
  };
  const acknowledged = async (): Promise<void> => {
    const receipts = smsc.acknowledged.length;
    await services.pass(() => smsc.receivers.size > 0);
    const [receiver] = smsc.receivers;
    for (const to of numbers) foreign(to);
    for (const segment of smsc.taken) own(segment, random() < 0.3);
    const all = receipts + numbers.length + smsc.taken.length;
    // While messages are being submitted, the connection may be cut before the last.
    await services.pass(
      () => smsc.acknowledged.length >= all || (!isQuiet && !smsc.receivers.has(receiver as Socket)),
    );
  };

  const batches: string[] = [];
  const completed = async (): Promise<void> => {
    for (const batch of batches) await services.completed(batch);
  };

  const route = {
    name: 'Mobicom',
    smpp: `smpp://127.0.0.1:${await smsc.listen()}`,
    system_id: 'urtuu',
    password: { env: 'PASSWORD' },
    prefixes: ['99'],
    per_second: 1_000,
  };
  try {
    await services.open(services.configured({ routes: [route] }), doubles);
    for (const idempotencyKey of ['1', '2', '3']) {
      await acknowledged();
      services.clock.advance(1_000);
      const params = { to: numbers, text: `Text ${idempotencyKey}` };
      const { body } = await services.core.operations.sendSmsBulk({ caller, params, idempotencyKey });
      batches.push((body as { id: string }).id);
      const submitted = smsc.heard.length;
      await services.pass(() => smsc.heard.length > submitted);
      isQuiet = false;
      await acknowledged();
      isQuiet = random() < 0.5;
      if (isQuiet) await completed();
    }
    await completed();
    const inDoubt = await unknownOf(services, batches);
    isQuiet = false;
    for (const later of [0, 20 * hour]) {
      services.clock.advance(later);
      await acknowledged();
    }
    const messages = (await Promise.all(batches.map((batch) => services.messagesOf(batch)))).flat();
    const wrong = messages.filter(
      (message) => !echoes.has(message.to + message.id.slice(-4)) && !isTrue(message, smsc.taken, stateOf),
    );
    if (wrong.length > 0)
      throw new Error(
        wrong.map(({ to, delivery }) => `${to} is ${delivery} by a receipt of another`).join('; '),
      );
    return inDoubt;
  } finally {
    await services.closeAll();
    await smsc.close();
  }
}

async function unknownOf(services: CarrierServices, batches: readonly string[]): Promise<number> {
  const all = await Promise.all(batches.map((batch) => services.messagesOf(batch)));
  return all.flat().filter(({ delivery }) => delivery === 'unknown').length;
}

/** What was not taken has no receipt. */
function isTrue(
  { id, to, delivery }: Message,
  taken: readonly TakenSegment[],
  stateOf: (segment: TakenSegment) => string,
): boolean {
  if (delivery === null || delivery === undefined || delivery === 'unknown') return true;
  const segment = taken.find((each) => each.to === to && id.endsWith(each.reference));
  return segment !== undefined && delivery === (stateOf(segment) === 'DELIVRD' ? 'delivered' : 'undelivered');
}

/** A control: it takes any receipt for that of the latest message to the number whose answer is missing. */
export const joinsByNumber: CoreDoubles = {
  carriers: (all) => all.map(joiningCarrier),
};

function joiningCarrier(carrier: Carrier): Carrier {
  const { reserve } = carrier;
  if (reserve === undefined) return carrier;
  const inDoubt = new Map<string, string>();
  const joined = (receipt: Receipt) => ({
    ...receipt,
    reference: inDoubt.get(receipt.to)?.slice(-4) ?? receipt.reference,
    submittedAt: null,
  });
  return {
    ...carrier,
    start: (onReceipt, onIncoming) => carrier.start((receipt) => onReceipt(joined(receipt)), onIncoming),
    async reserve(route, isSingle) {
      const reservation = await reserve(route, isSingle);
      return reservation && watched(reservation, inDoubt);
    },
  };
}

const watched = (reservation: Reservation, inDoubt: Map<string, string>): Reservation => ({
  ...reservation,
  submit: (submission, signal) =>
    reservation.submit(submission, signal).catch((error) => {
      inDoubt.set(submission.to, submission.reference);
      throw error;
    }),
});
