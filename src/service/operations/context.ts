import type { Clock } from '../clock.js';
import type { Sealing } from '../encryption.js';
import type { Random } from '../random.js';
import type { Settings } from '../settings.js';
import type { Allowances } from '../storage/rate-limiter.js';
import type { ClaimedMessage, Lease, Settled, Store } from '../storage/store.js';
import type { AnswerBoard } from './outcome-waiter.js';

/** Room for messages that are about to be accepted. */
export interface Room {
  lease: Lease;
  /** Hands over, in the background, what was accepted with the lease; to be called once, with none if need be. */
  deliver(claimed: readonly ClaimedMessage[], settings: Settings): void;
}

/** Who takes accepted messages out. */
export interface Dispatch {
  newLease(): Lease;
  /** Hands over a leased message; null when its end is not known yet. */
  deliver(claimed: ClaimedMessage, settings: Settings): Promise<Settled | null>;
  /** Null while there is no room for so many: they are delivered in their turn. */
  reserve(messages: number): Room | null;
  /** Says that there are messages to deliver. */
  wake(): void;
}

export interface Project {
  id: string;
  name: string;
  settings: Settings;
}

/** What the operations work with. */
export interface OperationContext {
  store: Store;
  allowances: Allowances;
  clock: Clock;
  random: Random;
  newId(): string;
  sealing: Sealing;
  dispatch: Dispatch;
  answers: AnswerBoard;
  project(id: string): Promise<Project>;
  /** `off` lets every request pass; for tests and measurements of speed. */
  rates: 'enforced' | 'off';
  /** A key that is stored nowhere, with the project it belongs to. */
  localKey: { hash: Uint8Array; projectId: string };
}
