import type { SuppressionReason } from '../../contract/index.js';
import type { Reservation } from '../carriers/carrier.js';
import type { ClaimedMessage, Mark, Marked, MessageRecord } from '../storage/store.js';
import type { ShowAnswer } from './answers.js';
import type { Deadlines } from './deadlines.js';
import type { Disposition } from './finalizer.js';
import type { HeldLeases } from './held-leases.js';
import type { Lane } from './lane.js';
import type { DispatcherParts } from './parts.js';

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
  /** Called with a carrier's answer after the deadline. */
  onLate(disposition: Disposition): void;
}

/** Null if it is no longer in its lease. */
type MarkedMessage = ClaimedMessage | { suppressed: SuppressionReason } | null;

/** For the messages of one lease. A class, not closures, because most leases are of one message. */
export class LeaseTools {
  readonly shared: SharedTools;
  readonly #token: string;
  /** On the monotonic clock. */
  readonly #since: number;

  constructor(token: string, shared: SharedTools) {
    this.shared = shared;
    this.#token = token;
    this.#since = shared.leases.beginningOf(token);
  }

  /** Never rejects: null if it cannot be read. */
  async suppressionOf({ projectId, to }: MessageRecord): Promise<SuppressionReason | null> {
    try {
      return (await this.shared.store.findSuppressions(projectId, [to]))[0] ?? null;
    } catch (error) {
      this.shared.report(error);
      return null;
    }
  }

  /** Never rejects. */
  async suppressUnknown({ projectId, to }: MessageRecord): Promise<void> {
    await this.shared.store
      .suppress(projectId, to, 'unknown_recipient')
      .catch((error) => this.shared.report(error));
  }

  /** Milliseconds since the claim. */
  elapsed(): number {
    return this.shared.clock.monotonic() - this.#since;
  }

  /** Room, or null after that many milliseconds. */
  within(reserved: Promise<Reservation | null>, milliseconds: number): Promise<Reservation | null> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const cancel = this.shared.clock.after(Math.max(milliseconds, leastWait), () => {
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

  /** Whether another process may have ended the lease at a time on the monotonic clock. */
  isLeaseOver(now: number): boolean {
    return this.shared.leases.isOver(this.#token, now);
  }

  /**
   * Marks the message for its next attempt, with its request if that may be repeated; null if it is no longer in its
   * lease. Not if its recipient is suppressed.
   */
  async mark(
    claimed: ClaimedMessage,
    { route, doubtMs, request }: { route: string; doubtMs: number; request: string | undefined },
  ): Promise<MarkedMessage> {
    const attempt = claimed.attempts + 1;
    const encrypted = request === undefined ? null : this.shared.encrypt(request);
    const marked = await this.shared.mark({ claimed, attempt, route, doubtMs, request: encrypted });
    if (typeof marked === 'string') return { suppressed: marked };
    return marked ? { ...claimed, attempts: attempt, mark: { attempt, route } } : null;
  }
}
