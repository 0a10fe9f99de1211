import { slowWords } from '../../../contract/index.js';
import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { LaneTrouble } from '../../storage/instances.js';
import { answerLine, type ShownAnswer } from '../../storage/tried.js';

/** Milliseconds within which the same warning is reported only once. */
const quietMs = 60_000;

/** For the log: it is expected and has no stack frames. */
class LaneWarning extends Error {
  override readonly name = 'LaneWarning';
  override readonly stack = '';
}

/** Reports who is slowed down and why, and when that ends. */
export class TroubleLog {
  readonly #lane: string;
  readonly #clock: Clock;
  readonly #report: Report;
  /** Reported, and not over yet. */
  readonly #open = new Set<string>();
  /** When each warning was reported last, on the monotonic clock. */
  readonly #reported = new Map<string, number>();

  constructor(lane: string, clock: Clock, report: Report) {
    this.#lane = lane;
    this.#clock = clock;
    this.#report = report;
  }

  /** Called for every answer about a trouble. `of`: a project; null for the whole lane. */
  goesOn(of: string | null, state: LaneTrouble['state'], answer: ShownAnswer): void {
    const subject = this.#subject(of);
    const key = `${subject} ${state}`;
    if (this.#open.has(key) || !this.#once(key, `${subject}: ${slowWords[state]}: ${answerLine(answer)}`))
      return;
    this.#open.add(key);
  }

  ended(of: string | null, state: LaneTrouble['state']): void {
    if (this.#open.size === 0) return;
    const subject = this.#subject(of);
    if (this.#open.delete(`${subject} ${state}`)) this.#warn(`${subject}: ended: ${slowWords[state]}`);
  }

  /** A carrier refuses a sender permanently. */
  refused(of: string, answer: ShownAnswer): void {
    const text = `${this.#subject(of)}: refused by its carrier: ${answerLine(answer)}`;
    this.#once(text, text);
  }

  #subject(of: string | null): string {
    return of === null ? `lane ${this.#lane}` : `lane ${this.#lane}, project ${of}`;
  }

  #once(key: string, text: string): boolean {
    const now = this.#clock.monotonic();
    for (const [old, at] of this.#reported) if (at <= now - quietMs) this.#reported.delete(old);
    if (this.#reported.has(key)) return false;
    this.#reported.set(key, now);
    this.#warn(text);
    return true;
  }

  #warn(text: string): void {
    this.#report(new LaneWarning(text), { level: 'warning' });
  }
}
