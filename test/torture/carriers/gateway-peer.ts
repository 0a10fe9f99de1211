import type { Message } from '../../../src/contract/index.js';
import { answer, bytes, FaultyGateway, type Reaction, type TakenRequest } from '../../support/gateway.js';
import { httpRoute } from '../../support/routes.js';
import type { Peer } from './peer.js';

/** With keys it takes each once, and answers now and then what nobody described. */
export type Keys = 'none' | 'known' | 'ignored';

interface Options {
  random: () => number;
  concurrent: number;
  keys?: Keys;
  /** A status of its answers that the route takes for a refusal too. */
  alsoRefused?: string;
}

/** Of a message that was taken. */
const undescribed: readonly Reaction[] = [answer(500), answer(200, { status: '99' }), bytes('HTTP/1.1 200')];
/** To a repeat: about the repeat alone. */
const other: readonly Reaction[] = [
  answer(409),
  answer(422, { status: '6' }),
  answer(429, {}, { 'Retry-After': '0' }),
  answer(401),
  answer(500),
];

/**
 * A gateway that takes what it should, answers late and throttles now and then. Without keys it refuses numbers that end
 * with 7: with them, what is refused while nobody listens stays unknown for ever, for a repeat only shows what was taken.
 */
export class GatewayPeer implements Peer {
  onMoment: () => void = () => {};
  readonly isIdle = true;
  readonly #gateway = new FaultyGateway();
  readonly #options: Options;
  readonly #taken = new Map<string, number>();
  /** What it answered to each key. */
  readonly #answered = new Map<string, Reaction>();
  #port = 0;

  constructor(options: Options) {
    this.#options = options;
    const { random } = options;
    this.#gateway.react = (response, request, index) => {
      this.onMoment();
      const react = this.#reactionTo(request, index);
      setTimeout(() => {
        this.onMoment();
        react(response, request, index);
      }, random() * 15);
    };
  }

  #reactionTo(request: TakenRequest, index: number): Reaction {
    const { random, keys = 'none' } = this.#options;
    const one = (reactions: readonly Reaction[]) =>
      reactions[Math.floor(random() * reactions.length)] as Reaction;
    const key = keys === 'known' ? String(request.headers['idempotency-key']) : null;
    const before = key === null ? undefined : this.#answered.get(key);
    if (before !== undefined) return random() < 0.3 ? one(other) : before;
    if (random() < 0.01) return answer(429, {}, { 'Retry-After': '0' });
    const to = (request.fields.to ?? '').replace(/^976/, '');
    const isTaken = !this.#isRefused(to);
    if (isTaken) this.#taken.set(to, this.takenOf(to) + 1);
    const reaction = isTaken ? answer(200, { status: '0', id: `g${index}` }) : answer(200, { status: '6' });
    if (key !== null) this.#answered.set(key, reaction);
    return keys !== 'none' && isTaken && random() < 0.01 ? one(undescribed) : reaction;
  }

  async listen(): Promise<void> {
    this.#port = await this.#gateway.listen();
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }

  get route(): object {
    const { concurrent, keys = 'none', alsoRefused } = this.#options;
    return httpRoute(this.#port, {
      refused: { field: 'status', is: alsoRefused === undefined ? ['6'] : ['6', alsoRefused] },
      id: 'id',
      ...(keys === 'none' ? {} : { repeat_key: { header: 'Idempotency-Key' }, repeat_for: '24h' }),
      concurrent,
      per_second: 20_000,
    });
  }

  takenOf(to: string): number {
    return this.#taken.get(to) ?? 0;
  }

  twiceOf(to: string): number {
    return Math.max(0, this.takenOf(to) - 1);
  }

  isTrue({ to, status, delivery }: Pick<Message, 'to' | 'status' | 'delivery'>): boolean {
    const taken = this.takenOf(to);
    if (status === 'failed') return taken === 0 && this.#isRefused(to);
    return status === 'sent' && (delivery === 'unknown' || (delivery === null && taken > 0));
  }

  #isRefused(to: string): boolean {
    return this.#options.keys === undefined && to.endsWith('7');
  }
}
