import type { Channel } from '../../contract/index.js';
import type { Clock } from '../clock.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { Encryption } from '../encryption.js';
import type { Random } from '../random.js';
import type { Settings } from '../settings.js';
import type { Storage } from '../storage/storage.js';
import type { ProjectRecord, Store } from '../storage/store.js';
import type { EventWaits } from './events/event-waits.js';
import type { KeyUse } from './key-use.js';
import type { OutcomeWaiter } from './outcome-waiter.js';
import type { VerificationLimits } from './verification-limits.js';

export interface Project {
  id: string;
  name: string;
  settings: Settings;
}

/** `sandbox`: given by the owner of this process; no longer valid once the data is served with a real carrier. */
export interface OwnKey {
  id: 'local' | 'sandbox';
  hash: Uint8Array;
}

/** The parts that operations work with. */
export interface OperationContext {
  store: Store;
  admit: Storage['admit'];
  clock: Clock;
  random: Random;
  newId(): string;
  encryption: Encryption;
  dispatcher: Pick<Dispatcher, 'prepare' | 'idle'>;
  outcomes: OutcomeWaiter;
  eventWaits: Pick<EventWaits, 'run'>;
  keyUse: Pick<KeyUse, 'note'>;
  verificationLimits: Pick<VerificationLimits, 'accept' | 'created'>;
  /** Whether another instance had a connection for the lane recently. */
  isConnectedElsewhere(lane: string): Promise<boolean>;
  /** Channels that refuse every send, with the reason. */
  closed: ReadonlyMap<Channel, string>;
  project(caller: { projectId: string; project?: Project }): Promise<Project>;
  readProject(record: Pick<ProjectRecord, 'id' | 'name' | 'settings'>): Project;
  /** `off` disables the request rate limits; for tests and measurements of speed. */
  rates: 'enforced' | 'off';
  /** Keys that are never stored, and their project. */
  ownKeys: readonly OwnKey[];
  ownProject: string;
  /** Whether no process has ever served this data with a real carrier. */
  isSimulated(): Promise<boolean>;
}
