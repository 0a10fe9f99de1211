import type { SuppressionReason } from '../../contract/index.js';
import type { Reservation, Route } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { ClaimedMessage, Mark, Marked, MessageRecord } from '../storage/store.js';
import type { ShowAnswer } from './answers.js';
import type { Deadlines } from './deadlines.js';
import type { Disposition } from './finalizer.js';
import type { HeldLeases } from './held-leases.js';
import type { Lane } from './lane.js';
import type { DispatcherParts } from './parts.js';
import type { DispatchRules, MarkedMessage, SubmitTools } from './submit.js';

/** Milliseconds that an overdue message still waits for room: a permit of the rate is rarely further away. */
const leastWait = 200;

/** Shared by all leases of a dispatcher. */
export interface SharedTools
  extends Pick<DispatcherParts, 'clock' | 'encrypt' | 'decrypt' | 'report' | 'routesOf' | 'store'> {
  lanes: ReadonlyMap<string, Lane>;
  leases: HeldLeases;
  deadlines: Deadlines;
  show: ShowAnswer;
  mark(mark: Mark): Promise<Marked>;
  onLate(disposition: Disposition): void;
}

/** A class, not closures, because most leases are of one message. */
export class LeaseTools implements SubmitTools {
  readonly deadlines: Deadlines;
  readonly decrypt: (encrypted: Uint8Array) => string;
  readonly report: Report;
  readonly onLate: (disposition: Disposition) => void;
  readonly show: ShowAnswer;
  readonly #token: string;
  readonly #shared: SharedTools;
  readonly #clock: Clock;
  /** On the monotonic clock. */
  readonly #since: number;

  constructor(token: string, shared: SharedTools) {
    this.deadlines = shared.deadlines;
    this.decrypt = shared.decrypt;
    this.report = shared.report;
    this.onLate = shared.onLate;
    this.show = shared.show;
    this.#token = token;
    this.#shared = shared;
    this.#clock = shared.clock;
    this.#since = shared.leases.beginningOf(token);
  }

  routesOf({ message }: ClaimedMessage, rules: DispatchRules): readonly Route[] {
    return this.#shared.routesOf(message, rules);
  }

  lane(name: string): Lane | undefined {
    return this.#shared.lanes.get(name);
  }

  async suppressionOf({ projectId, to }: MessageRecord): Promise<SuppressionReason | null> {
    try {
      return (await this.#shared.store.findSuppressions(projectId, [to]))[0] ?? null;
    } catch (error) {
      this.report(error);
      return null;
    }
  }

  async suppressUnknown({ projectId, to }: MessageRecord): Promise<void> {
    await this.#shared.store
      .suppress(projectId, to, 'unknown_recipient')
      .catch((error) => this.report(error));
  }

  elapsed(): number {
    return this.#clock.monotonic() - this.#since;
  }

  now(): number {
    return this.#clock.monotonic();
  }

  within(reserved: Promise<Reservation | null>, milliseconds: number): Promise<Reservation | null> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const cancel = this.#clock.after(Math.max(milliseconds, leastWait), () => {
        isLate = true;
        resolve(null);
      });
      reserved.then((reservation) => {
        cancel();
        if (isLate) reservation?.release();
        else resolve(reservation);
      }, reject);
    });
  }

  isLeaseOver(now: number): boolean {
    return this.#shared.leases.isOver(this.#token, now);
  }

  async mark(
    claimed: ClaimedMessage,
    { route, doubtMs, request }: { route: string; doubtMs: number; request: string | undefined },
  ): Promise<MarkedMessage> {
    const attempt = claimed.attempts + 1;
    const encrypted = request === undefined ? null : this.#shared.encrypt(request);
    const marked = await this.#shared.mark({ claimed, attempt, route, doubtMs, request: encrypted });
    if (typeof marked === 'string') return { suppressed: marked };
    return marked ? { ...claimed, attempts: attempt, mark: { attempt, route } } : null;
  }
}
