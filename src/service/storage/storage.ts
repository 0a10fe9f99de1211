import type { Clock } from '../clock.js';
import type { Admission, Admitted } from './admission.js';
import type { Changes } from './changes.js';
import type { Instances } from './instances.js';
import type { RateLimiter } from './rate-limiter.js';
import type { Store } from './store.js';

/** An engine: SQLite for one machine, PostgreSQL for many. */
export interface Storage {
  store: Store;
  /** The time of the engine, which every rule goes by: other processes' clocks may differ from this one's. */
  clock: Clock;
  rateLimiter: RateLimiter;
  changes: Changes;
  instances: Instances;
  /** 32 bytes that encrypt contents and key the HMACs of codes. */
  secret: Uint8Array;
  /**
   * The one call before the body of a request is read. In the order of checks: caller, token, the answer bound to its
   * idempotency key; an answer bound later is found when the send is accepted. Null for a key that is
   * unknown, revoked or expired.
   */
  admit(admission: Admission): Promise<Admitted | null>;
  /** Rejects while the store cannot be used, and where its schema is older than this version, or gone. */
  check(): Promise<void>;
  close(): Promise<void>;
}
