import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import { keyUseEvery } from '../storage/admission.js';
import type { Store } from '../storage/store.js';

/** Records when keys were last used, at most once a minute for each key. Requests do not wait for it. */
export class KeyUse {
  readonly #recordedAt = new Map<string, number>();
  readonly #recording = new Set<Promise<void>>();
  readonly #store: Pick<Store, 'recordKeyUse'>;
  readonly #clock: Clock;
  readonly #report: Report;

  constructor(store: Pick<Store, 'recordKeyUse'>, clock: Clock, report: Report) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  note(keyId: string): void {
    const now = this.#clock.monotonic();
    const before = this.#recordedAt.get(keyId);
    if (before !== undefined && now - before < keyUseEvery) return;
    this.#recordedAt.set(keyId, now);
    const recording = this.#store
      .recordKeyUse(keyId)
      .catch((error) => this.#report(error, { level: 'warning' }))
      .finally(() => this.#recording.delete(recording));
    this.#recording.add(recording);
  }

  /** Resolves when nothing is being written. */
  async ended(): Promise<void> {
    await Promise.all(this.#recording);
  }
}
