import { Refused } from '../../cli/bulk/model-service.js';

/** What can happen to a copy of a request on its way. */
type Fate =
  | 'passes'
  | 'delayed'
  | 'answer lost'
  | 'poor'
  | 'busy'
  | 'barred'
  | 'too large'
  | 'unavailable'
  | 'foreign';

const moods: readonly (readonly (readonly [Fate, share: number])[])[] = [
  [
    ['passes', 3],
    ['delayed', 3],
    ['answer lost', 1],
    ['poor', 2],
    ['busy', 1],
  ],
  // What is needed to make a sender believe that its key is used up.
  [
    ['delayed', 2],
    ['poor', 9],
    ['passes', 1],
  ],
  [
    ['delayed', 3],
    ['busy', 6],
    ['answer lost', 1],
    ['passes', 1],
  ],
  [
    ['delayed', 1],
    ['barred', 1],
    ['too large', 1],
    ['unavailable', 1],
    ['foreign', 2],
    ['poor', 2],
    ['passes', 2],
  ],
  [
    ['answer lost', 3],
    ['poor', 5],
    ['delayed', 1],
  ],
];

const refusals = [
  ['unauthorized', 401],
  ['forbidden', 403],
  ['not_found', 404],
] as const;

export interface Way {
  /** Takes a copy to the service, or not, or later; throws what its sender sees. */
  carry(call: () => object): Promise<object>;
  /** What the balance is said to be. */
  balance(): Promise<{ balance: number }>;
  /** Everything that is still on its way arrives, in any order. */
  arriveAll(): void;
  /** From here on everything passes. */
  calm(): void;
}

/** A way on which copies arrive long after their senders have given up, between refusals that are not true. */
export function lyingWay(
  random: () => number,
  { now, sleep, timeout }: { now(): number; sleep(milliseconds: number): Promise<void>; timeout: number },
): Way {
  const late: { call: () => object; at: number }[] = [];
  const saidBalance = Math.floor(random() * 3);
  let mood = pick(moods);
  let isCalm = false;

  function pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(random() * items.length)] as Item;
  }
  function fate(): Fate {
    let at = random() * mood.reduce((sum, [, share]) => sum + share, 0);
    for (const [each, share] of mood) {
      at -= share;
      if (at < 0) return each;
    }
    return 'passes';
  }
  function arrive(isDue: (at: number) => boolean): void {
    const due = late.filter(({ at }) => isDue(at));
    for (const copy of due) late.splice(late.indexOf(copy), 1);
    while (due.length > 0) {
      const [copy] = due.splice(Math.floor(random() * due.length), 1);
      quietly(copy?.call);
    }
  }

  return {
    async carry(call) {
      arrive((at) => at <= now());
      if (isCalm) return call();
      if (random() < 0.1) mood = pick(moods);
      switch (fate()) {
        case 'delayed':
          late.push({ call, at: now() + random() ** 2 * 60 * timeout });
          await sleep(timeout);
          throw new Refused('timeout', null);
        case 'answer lost':
          quietly(call);
          await sleep(timeout * random());
          throw new Refused(pick(['connection_error', 'timeout', 'unexpected_response']), null);
        case 'poor':
          throw new Refused('insufficient_credits', 402, { balance: saidBalance, required: 10 });
        case 'busy':
          throw new Refused('rate_limited', 429, { retryAfter: pick([0, 0.2, 1, 30, null]) });
        case 'barred':
          throw new Refused(...(pick(refusals) as [string, number]));
        case 'too large':
          throw new Refused(pick(['request_too_large', 'x']), pick([413, 418]));
        case 'foreign':
          throw new Refused('invalid_request', 400, { invalid: ['70112233'] });
        case 'unavailable':
          throw new Refused('unavailable', pick([500, 503, 409, 425]));
        default:
          return call();
      }
    },
    async balance() {
      if (random() < 0.1) throw new Refused('unavailable', 503);
      return { balance: random() < 0.9 ? 1_000_000 : 0 };
    },
    arriveAll: () => arrive(() => true),
    calm() {
      isCalm = true;
    },
  };
}

/** A copy whose answer nobody hears. */
function quietly(call: (() => object) | undefined): void {
  try {
    call?.();
  } catch {
    // Refused, to nobody.
  }
}
