import type { Message } from '../../../src/contract/index.js';
import { answer, FaultyGateway } from '../../support/gateway.js';
import type { Peer } from './peer.js';

/** A gateway that takes what it should, answers late, throttles now and then, and refuses numbers that end with 7. */
export class GatewayPeer implements Peer {
  onMoment: () => void = () => {};
  readonly isSettled = true;
  readonly #gateway = new FaultyGateway();
  readonly #concurrent: number;
  readonly #taken = new Map<string, number>();
  #port = 0;

  constructor({ random, concurrent }: { random: () => number; concurrent: number }) {
    this.#concurrent = concurrent;
    this.#gateway.react = (response, request, index) => {
      const react = this.#reactionTo((request.fields.to ?? '').replace(/^976/, ''), index, random);
      setTimeout(() => {
        this.onMoment();
        react(response, request, index);
      }, random() * 15);
    };
  }

  #reactionTo(to: string, index: number, random: () => number) {
    this.onMoment();
    if (random() < 0.01) return answer(429, {}, { 'Retry-After': '0' });
    if (isRefused(to)) return answer(200, { status: '6' });
    this.#taken.set(to, this.takenOf(to) + 1);
    return answer(200, { status: '0', id: `g${index}` });
  }

  async listen(): Promise<void> {
    this.#port = await this.#gateway.listen();
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }

  get route(): object {
    return {
      name: 'gateway',
      http: `http://127.0.0.1:${this.#port}/send`,
      form: { to: '{number}', text: '{text}' },
      accepted: { status: [200], field: 'status', is: ['0'] },
      refused: { field: 'status', is: ['6'] },
      id: 'id',
      concurrent: this.#concurrent,
      per_second: 20_000,
      prefixes: ['99'],
    };
  }

  takenOf(to: string): number {
    return this.#taken.get(to) ?? 0;
  }

  twiceOf(to: string): number {
    return Math.max(0, this.takenOf(to) - 1);
  }

  isTrue({ to, status, delivery }: Pick<Message, 'to' | 'status' | 'delivery'>): boolean {
    const taken = this.takenOf(to);
    if (status === 'failed') return taken === 0 && isRefused(to);
    return status === 'sent' && (delivery === 'unknown' || (delivery === null && taken > 0));
  }
}

const isRefused = (to: string): boolean => to.endsWith('7');
