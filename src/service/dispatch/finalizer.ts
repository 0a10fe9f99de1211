import type { BoundAnswer, MessageRecord, Settled, Settlement, Store } from '../storage/store.js';

interface Waiting {
  settlement: Settlement;
  resolve(settled: Settled | null): void;
  reject(error: unknown): void;
}

/** Collects the messages that end in one turn of the event loop, so that they are settled in one transaction. */
export class SettlementDesk {
  readonly #store: Store;
  readonly #answer: (message: MessageRecord, balance: number) => BoundAnswer;
  #waiting: Waiting[] = [];

  constructor(store: Store, answer: (message: MessageRecord, balance: number) => BoundAnswer) {
    this.#store = store;
    this.#answer = answer;
  }

  settle(settlement: Settlement): Promise<Settled | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ settlement, resolve, reject });
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#settleAll());
    });
  }

  async #settleAll(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const settled = await this.#store.settleMessages(
        waiting.map(({ settlement }) => settlement),
        this.#answer,
      );
      waiting.forEach(({ resolve }, index) => {
        resolve(settled[index] ?? null);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
