import type { Clock } from '../clock.js';
import type { Admission, Admitted } from './admission.js';
import type { Changes } from './changes.js';
import type { Instances } from './instances.js';
import type { RateLimiter } from './rate-limiter.js';
import type { Store } from './store.js';

/** An engine: SQLite for one machine, PostgreSQL for many. */
export interface Storage {
  store: Store;
  /** The engine's time, which every rule uses: the clocks of processes may differ. */
  clock: Clock;
  rateLimiter: RateLimiter;
  changes: Changes;
  instances: Instances;
  /** 32 bytes that encrypt contents and key the HMACs of codes. */
  secret: Uint8Array;
  /**
   * The one call before the body of a request is read. It checks, in order, the caller, the token, and the answer
   * bound to the idempotency key; an answer bound later is found when the send is accepted. Null for an unknown,
   * revoked or expired key.
   */
  admit(admission: Admission): Promise<Admitted | null>;
  /** Rejects while the store cannot be used, and if its schema is missing or older than this version. */
  check(): Promise<void>;
  close(): Promise<void>;
}
