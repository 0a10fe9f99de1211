import type { Carrier, Incoming, RoutesOf } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { Settings } from '../settings.js';
import type { Changes } from '../storage/changes.js';
import type { AnswerOf, Store } from '../storage/store.js';
import type { EmailRules } from './submission.js';

/** A project's current rules. */
export type DispatchRules = Pick<Settings, 'caps' | 'no_link_operators' | 'suppressions'> & EmailRules;

/** Known at once for the project of a batch; read for others. */
export type RulesOf = (projectId: string) => DispatchRules | Promise<DispatchRules>;

export interface DispatcherParts {
  store: Store;
  changes: Changes;
  carriers: readonly Carrier[];
  routesOf: RoutesOf;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  /** The answer to a single send, made when its message is finalized. */
  answer: AnswerOf;
  rulesOf(projectId: string): Promise<DispatchRules>;
  encrypt(text: string): Uint8Array;
  decrypt(encrypted: Uint8Array): string;
  /** Stores an incoming message; committed when it resolves. */
  receive(incoming: Incoming): Promise<void>;
  /** Whether other processes may leave messages in the store. */
  isShared: boolean;
  /** Secrets of the configuration, removed from every answer that is shown. */
  secrets: readonly string[];
  report: Report;
  leaseMs?: number;
}
