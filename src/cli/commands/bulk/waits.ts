import type { BulkEvent } from '../../bulk/send/events.js';
import { localTime } from '../../output/cells.js';
import { duration, grouped } from '../../text/wording.js';

const capped = 'recipient_rate_limited';

/** The waits that a running job has announced. Times are milliseconds since 1970. */
export class Waits {
  /** When the last wait ends: the job takes at least as long. */
  until = Number.NEGATIVE_INFINITY;
  /** Whether it has stopped sending. */
  isStopping = false;
  /** Single sends over their recipient's cap. */
  readonly #capped = new Set<number>();
  #givenUp = 0;

  /** Takes an event when it happens. */
  follow(event: BulkEvent, now: number): void {
    if (event.type === 'stopping') {
      this.isStopping = true;
      this.until = Number.NEGATIVE_INFINITY;
    }
    if ('request' in event && event.type !== 'final' && event.type !== 'progressed')
      this.#capped.delete(event.request);
    if (event.type === 'given-up') this.#givenUp += 1;
    if (event.type !== 'waiting' || this.isStopping) return;
    this.until = Math.max(this.until, now + event.milliseconds);
    if (event.why === capped) this.#capped.add(event.request);
  }

  /** Whether the job only waits for recipients over their cap. */
  isIdle({ open }: Pick<BulkEvent, 'open'>, now: number): boolean {
    return (
      this.until - now >= worthSaying && this.#capped.size > 0 && open - this.#givenUp <= this.#capped.size
    );
  }

  /** For example `3 over their cap until 08:25:00`, `recipient_rate_limited`. */
  words(now: number): string[] {
    const today = localTime(new Date(now).toISOString());
    const end = localTime(new Date(this.until).toISOString());
    const [day, time] = end.split(' ');
    const { size } = this.#capped;
    const whose = size === 1 ? 'its' : 'their';
    const until = today.startsWith(`${day}`) ? time : end;
    return [`${grouped(size)} over ${whose} cap until ${until}`, capped];
  }
}

const reasons: Readonly<Record<string, string>> = {
  connection_error: 'service unreachable',
  timeout: 'no answer from the service',
  unavailable: 'service unavailable',
  rate_limited: 'rate limit reached',
  [capped]: 'recipient over its cap',
};

/** `service unreachable, next try in 4 s` */
export const waitWords = ({ why, milliseconds }: { why: string; milliseconds: number }): string =>
  `${reasons[why] ?? why}, next try in ${duration(milliseconds / 1_000)}`;

/** Milliseconds */
const worthSaying = 1_000;
