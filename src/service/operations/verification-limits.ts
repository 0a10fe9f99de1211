import type { Clock } from '../clock.js';
import { ServiceError } from '../errors/service-error.js';
import type { Report } from '../report.js';
import type { Settings } from '../settings.js';
import type { CountedVerifications, Store } from '../storage/store.js';

const day = 86_400_000;
const hour = 3_600_000;
/** Of fewer verifications in an hour nothing is said. */
const fewest = 50;
const leastVerified = 0.1;

/** Many codes were sent and few of them came back: somebody may pump traffic to numbers that pay them. */
export const isLow = ({ created, verified }: CountedVerifications): boolean =>
  created >= fewest && verified < created * leastVerified;

/** Limits verifications of a project, and warns of many that nobody verifies. */
export class VerificationLimits {
  readonly #store: Pick<Store, 'verificationWait' | 'countVerifications'>;
  readonly #clock: Clock;
  readonly #report: Report;
  /** Of projects with limits, the acceptances under way: they are counted one after the other. */
  readonly #last = new Map<string, Promise<unknown>>();
  /** Created here since the last look, and when that was warned of. */
  readonly #seen = new Map<string, { created: number; warnedAt: number }>();

  constructor(store: Pick<Store, 'verificationWait' | 'countVerifications'>, clock: Clock, report: Report) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  /** Accepts one to a recipient. Throws `rate_limited` if a limit is reached. */
  async accept<Result>(
    { id, settings }: Limited,
    to: string,
    accept: () => Promise<Result>,
  ): Promise<Result> {
    const { per_24_hours: all, per_100_numbers: some } = settings.verifications;
    const limits = [
      ...(all === null ? [] : [{ most: all, windowMs: day, numbers: null }]),
      ...(some === null || to.includes('@') ? [] : [{ most: some, windowMs: day, numbers: blockOf(to) }]),
    ];
    if (limits.length === 0) return accept();
    const checked = async () => {
      const waits = await Promise.all(limits.map((limit) => this.#store.verificationWait(id, limit)));
      const wait = Math.max(...waits.map((each) => each ?? 0));
      if (wait > 0) throw limited(wait);
      return accept();
    };
    const result = (this.#last.get(id) ?? Promise.resolve()).then(checked);
    const last = result.catch(() => {});
    this.#last.set(id, last);
    last.then(() => {
      if (this.#last.get(id) === last) this.#last.delete(id);
    });
    return result;
  }

  /** Looks at each 50th one of a project here, and warns at most once an hour. */
  created({ id }: Pick<Limited, 'id'>): void {
    const seen = this.#seen.get(id) ?? { created: 0, warnedAt: Number.NEGATIVE_INFINITY };
    this.#seen.set(id, seen);
    seen.created += 1;
    if (seen.created % fewest !== 0 || this.#clock.monotonic() - seen.warnedAt < hour) return;
    this.#store
      .countVerifications(id, this.#clock.now() - hour)
      .then((counted) => {
        if (!isLow(counted)) return;
        seen.warnedAt = this.#clock.monotonic();
        const { created, verified } = counted;
        const words = `project ${id}: ${verified} of ${created} verifications of the last hour were verified; see verifications.per_100_numbers`;
        this.#report(new Error(words), { level: 'warning' });
      })
      .catch((error) => this.#report(error, { level: 'warning' }));
  }
}

/** What is read of a project. */
interface Limited {
  id: string;
  settings: Pick<Settings, 'verifications'>;
}

/** The 100 numbers with the same beginning. */
const blockOf = (number: string) => [`${number.slice(0, -2)}00`, `${number.slice(0, -2)}99`] as const;

function limited(waitMs: number): ServiceError {
  return new ServiceError('rate_limited', 'The project created as many verifications as its settings allow', {
    retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
}
