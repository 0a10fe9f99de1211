import type { Message } from '../../../src/contract/index.js';
import { Relay } from '../../support/relay.js';
import type { Peer } from './peer.js';

export interface MailRelayOptions {
  random: () => number;
  connections: number;
  isPipelining: boolean;
}

/** A relay that takes what it should, answers late, and refuses addresses that end with 7. */
export class MailRelay implements Peer {
  readonly #connections: number;
  onMoment: () => void = () => {};
  readonly isIdle = true;
  readonly #relay: Relay;
  #port = 0;
  readonly #counted = new Map<string, number>();
  #count = 0;

  constructor({ random, connections, isPipelining }: MailRelayOptions) {
    this.#connections = connections;
    this.#relay = new Relay({
      isPipelining,
      delayMs: (step) => (step === 'body' ? random() * 15 : 0),
      onStep: () => this.onMoment(),
      react: (step, _, to) => (step === 'RCPT' && isRefused(to) ? '550 5.1.1 Unknown' : null),
    });
  }

  async listen(): Promise<void> {
    this.#port = await this.#relay.listen();
  }

  close(): Promise<void> {
    return this.#relay.close();
  }

  get configuration(): object {
    return {
      smtp: `smtp://127.0.0.1:${this.#port}`,
      from: 'no-reply@example.mn',
      bounce_domain: 'bounce.example.mn',
      connections: this.#connections,
    };
  }

  takenOf(to: string): number {
    const { taken } = this.#relay;
    for (; this.#count < taken.length; this.#count += 1) {
      const mail = taken[this.#count]?.to ?? '';
      this.#counted.set(mail, (this.#counted.get(mail) ?? 0) + 1);
    }
    return this.#counted.get(to) ?? 0;
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

const isRefused = (to: string): boolean => to.startsWith('p7');
