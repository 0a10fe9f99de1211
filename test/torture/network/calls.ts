import type { Urtuu } from '../../../src/client/index.js';
import { recipients } from '../people.js';

/** One call of the client, told from all others by its number, which stands in what it sends. */
export interface Call {
  number: number;
  /** What the client makes of it at the service. */
  kind: 'message' | 'batch' | 'verification';
  to: string[];
  /** The caller's own idempotency key; null lets the client make one. */
  key: string | null;
  /** Asks the client, and gives what it resolves to. */
  make(client: Urtuu): Promise<{ id: string }>;
}

export const mark = (number: number) => `#${number}.`;

/** The number of the call in a delivered text or subject; null when there is none. */
export function callOf(text: string | null): number | null {
  const found = /#(\d+)\./.exec(text ?? '')?.[1];
  return found === undefined ? null : Number(found);
}

/** Numbers that get single messages begin with this; those of batches do not. */
export const singlePrefix = '88';
const firstOfBatches = 1_000_000;

/** The four sends and `verify.create` in turn, by chance, each for recipients nobody else has. */
export function callMaker(random: () => number): () => Call {
  let made = 0;
  let inBatches = 0;

  return () => {
    const number = made++;
    const text = `Hello ${mark(number)}`;
    const key = random() < 0.5 ? null : `call-${number}`;
    const options = key === null ? {} : { idempotencyKey: key };
    const chance = random();
    const single = recipients(number % firstOfBatches, 1);
    const address = `p${number}@example.mn`;
    if (chance < 0.1) {
      const params = { to: single[0] ?? '', text: `{code} ${mark(number)}` };
      return {
        number,
        kind: 'verification',
        to: single,
        key: null,
        make: ({ verify }) => verify.create(params),
      };
    }
    if (chance < 0.45) {
      const params = { to: single[0] ?? '', text };
      return { number, kind: 'message', to: single, key, make: ({ sms }) => sms.send(params, options) };
    }
    if (chance < 0.65) {
      const params = { to: address, subject: mark(number), text };
      return {
        number,
        kind: 'message',
        to: [address],
        key,
        make: ({ email }) => email.send(params, options),
      };
    }
    const count = 1 + Math.floor(random() * 5);
    if (chance < 0.85) {
      const to = recipients(firstOfBatches + inBatches, count);
      inBatches += count;
      return { number, kind: 'batch', to, key, make: ({ sms }) => sms.sendBulk({ to, text }, options) };
    }
    const to = Array.from({ length: count }, (_, index) => `${index}.${address}`);
    const params = { to, subject: mark(number), text };
    return { number, kind: 'batch', to, key, make: ({ email }) => email.sendBulk(params, options) };
  };
}
