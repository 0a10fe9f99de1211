import type { Clock } from '../../../../src/service/clock.js';
import type { Changes } from '../../../../src/service/storage/changes.js';
import type { Instances } from '../../../../src/service/storage/instances.js';
import type { RateLimiter } from '../../../../src/service/storage/rate-limiter.js';
import type { Storage } from '../../../../src/service/storage/storage.js';
import type { Store } from '../../../../src/service/storage/store.js';

/** A connection to a store. */
export interface Handle {
  store: Store;
  rateLimiter: RateLimiter;
  changes: Changes;
  instances: Instances;
  admit: Storage['admit'];
  /** The contents as they are stored. */
  contents(): Promise<{ text: string | null; encrypted: Uint8Array | null }[]>;
  /** How many rows each table has. */
  rows(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** An engine under test: opens handles of one new, empty store, each with the clock that it is given. */
export interface Engine {
  name: string;
  /** Whether all handles go by one time of the engine; otherwise each goes by its clock. */
  ownsTime: boolean;
  /** How many handles a store is played with, one after the other. */
  handles: readonly (1 | 2)[];
  open(clocks: readonly Clock[]): Promise<Handle[]>;
}
