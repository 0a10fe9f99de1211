import type { Message } from '../../../src/contract/index.js';
import { statuses } from '../../../src/service/carriers/smpp/codec/commands.js';
import { smppRoute } from '../../support/routes.js';
import { Smsc, type TakenSegment } from '../../support/smsc.js';
import type { Peer } from './peer.js';

/** Milliseconds in which a submission is answered. */
const longestAnswer = 15;
/** Milliseconds before a receipt goes out again. */
const receiptPause = 50;

export interface CentreOptions {
  name: string;
  prefix: string;
  random: () => number;
  window: number;
  /** Whether it sends receipts, and in which form their ids are. */
  receipts: 'none' | 'same' | 'hex_to_dec';
  bind: 'transceiver' | 'transmitter+receiver';
}

/**
 * A mobile operator that takes what it should and remembers it, answers late and out of order, and sends a receipt
 * again until it is acknowledged. It refuses numbers that end with 7, and cannot deliver those that end with 3.
 */
export class Centre implements Peer {
  readonly smsc: Smsc;
  readonly prefix: string;
  onMoment: () => void = () => {};
  #port = 0;
  #receipts = 0;
  #isClosed = false;
  readonly #options: CentreOptions;
  readonly #taken = new Map<string, TakenSegment[]>();

  constructor(options: CentreOptions) {
    const { random } = options;
    this.#options = options;
    this.prefix = options.prefix;
    this.smsc = new Smsc({
      idOf: (number) => (0xa000 + number).toString(options.receipts === 'hex_to_dec' ? 16 : 10),
      onHeard: () => this.onMoment(),
      react: ({ to }) => (isRefused(to) ? statuses.invalidRecipient : 'take'),
      onTaken: (segment, answer) => {
        this.#remember(segment);
        this.onMoment();
        const isFirst = random() < 0.5;
        if (isFirst) this.#sendReceipt(segment);
        setTimeout(() => {
          answer();
          if (!isFirst) this.#sendReceipt(segment);
        }, random() * longestAnswer);
      },
      onRefused: (answer) => void setTimeout(answer, random() * longestAnswer),
    });
  }

  async listen(): Promise<void> {
    this.#port = await this.smsc.listen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.smsc.close();
  }

  get route(): object {
    const { name, prefix, window, receipts, bind } = this.#options;
    const read = receipts === 'none' ? {} : { receipt_id: receipts };
    return smppRoute(this.#port, { name, prefixes: [prefix], per_second: 2_000, window, bind, ...read });
  }

  get isIdle(): boolean {
    return this.#receipts === 0;
  }

  takenOf(to: string): number {
    return this.#taken.get(to)?.length ?? 0;
  }

  twiceOf(to: string): number {
    const taken = this.#taken.get(to) ?? [];
    return taken.length - new Set(taken.map(({ number }) => number)).size;
  }

  isTrue({ to, status, delivery }: Pick<Message, 'to' | 'status' | 'delivery'>): boolean {
    const taken = this.#taken.get(to) ?? [];
    const isWhole = taken.length > 0 && taken.length === taken[0]?.total;
    if (status === 'failed') return taken.length === 0 && isRefused(to);
    if (status !== 'sent') return false;
    // Nobody heard the refusal.
    if (isRefused(to)) return delivery === 'unknown';
    if (this.#options.receipts === 'none') return delivery === 'unknown' || (delivery === null && isWhole);
    if (taken.length > 0 && isUndeliverable(to)) return delivery === 'undelivered';
    return delivery === (isWhole ? 'delivered' : 'unknown');
  }

  #remember(segment: TakenSegment): void {
    const known = this.#taken.get(segment.to);
    if (known === undefined) this.#taken.set(segment.to, [segment]);
    else known.push(segment);
  }

  #sendReceipt(segment: TakenSegment): void {
    const { receipts } = this.#options;
    if (receipts === 'none') return;
    const id = receipts === 'same' ? segment.id : `${Number.parseInt(segment.id, 16)}`;
    const stat = isUndeliverable(segment.to) ? 'UNDELIV' : 'DELIVRD';
    this.#receipts += 1;
    const send = async (): Promise<void> => {
      while (!this.#isClosed && (await this.smsc.deliverReceipt(segment, stat, id)) !== statuses.ok)
        await new Promise((resolve) => setTimeout(resolve, receiptPause));
      this.#receipts -= 1;
    };
    void send();
  }
}

const isRefused = (to: string): boolean => to.endsWith('7');
const isUndeliverable = (to: string): boolean => to.endsWith('3');
