import type { MailAdministration, ReceivedAs } from './inbox/mail-administration.js';
import type { Settings, SettingsPatch } from './settings.js';
import type { HoldReason, KeyScope, LedgerReason, Unfinished } from './storage/store.js';

export type { KeyScope };

export interface ApiKey {
  id: string;
  /** First 12 characters of the secret; null for a key of an older release. */
  prefix: string | null;
  label: string | null;
  /** `send`: every POST; `read`: every GET. */
  scope: readonly KeyScope[];
  created_at: string;
  /** From then on it is refused as an unknown key; null for a key that does not expire. */
  expires_at: string | null;
  /** Within a minute; null for a key that was never used. */
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface NewApiKey {
  /** At most 100 characters. */
  label?: string;
  /** Both when absent. */
  scope?: readonly KeyScope[];
  /** ISO 8601, in the future; never when absent. */
  expires_at?: string;
  /** Seconds from now on, by the time of the service's data; in place of `expires_at`. */
  expires_in?: number;
}

export interface ProjectSummary {
  id: string;
  name: string;
  /** Credits. */
  balance: number;
  created_at: string;
}

/** A change of a balance; the entries of a project add up to its balance. */
export interface LedgerEntry {
  amount: number;
  reason: LedgerReason;
  /** The id of its message, batch, verification or credit. */
  subject_id: string | null;
  /** Of a credit. */
  note: string | null;
  created_at: string;
}

interface AnyDelivery {
  /** The message's id. */
  message_id: string;
  to: string;
  /** The code of a verification; null for any other message. */
  code: string | null;
  /** The route or operator that accepted it. */
  route: string;
  delivered_at: string;
}

export interface SmsDelivery extends AnyDelivery {
  channel: 'sms';
  /** As delivered: without links over a route that carries none. */
  text: string;
  subject: null;
  html: null;
  from: null;
  reply_to: null;
}

export interface EmailDelivery extends AnyDelivery {
  channel: 'email';
  /** At least one of text and html is there. */
  text: string | null;
  subject: string;
  html: string | null;
  from: string | null;
  reply_to: string | null;
}

/** A message in the outbox of the simulated operator or mail carrier. */
export type Delivery = SmsDelivery | EmailDelivery;

/** Owner's operations on a project, without the API. Refusals throw `invalid_request`. */
export interface ProjectAdministration extends MailAdministration {
  /** Creates a key; only this answer has its secret. Refused over 10 active keys. */
  createKey(options?: NewApiKey): Promise<ApiKey & { secret: string }>;
  /** Creates a key only where the project never had one: of instances that start together, one does. */
  createFirstKey(): Promise<(ApiKey & { secret: string }) | null>;
  listKeys(): Promise<ApiKey[]>;
  /** Revokes a key from the next request on. False for an unknown or revoked one. */
  revokeKey(id: string): Promise<boolean>;
  /**
   * Adds credits (negative removes those that are there), with a note of at most 100 characters; returns the new balance.
   * `id` is the `subject_id` of its ledger entry, a UUID of its own.
   */
  credit(amount: number, options?: { note?: string; id?: string }): Promise<number>;
  /** Every change of the balance, oldest first. */
  ledger(): Promise<LedgerEntry[]>;
  /** The same, newest first and page after page; those at `since`, an ISO time, or later. */
  newestLedger(filter?: { since?: string }): AsyncIterable<LedgerEntry>;
  /**
   * A link that signs in to the dashboard, once, within 10 minutes, of this project, or of all with this one first; null
   * while no instance has served it.
   */
  createDashboardLink(options?: { allProjects?: boolean }): Promise<string | null>;
  settings: {
    get(): Promise<Settings>;
    /** Changes the given fields, which may depend on the current settings; returns all settings. */
    update(patch: SettingsPatch | ((current: Settings) => SettingsPatch)): Promise<Settings>;
  };
}

/** A service that sends nothing until its owner releases it, and its messages without an outcome. */
export interface Hold extends Unfinished {
  reason: HoldReason;
}

/** `sent`: with `delivery: "unknown"`, charged. `failed`: refunded. `queue`: they wait again. */
export type FinishAs = 'sent' | 'failed' | 'queue';

/** Something that slows a lane down, or a project on it. */
export interface SlowLane {
  /** Id and name of the project; null for the whole lane. */
  project: string | null;
  project_name: string | null;
  /** `throttled`: its rate is lowered. `suspected`: nothing is accepted. `backing_off`: an answer pauses it. */
  state: 'throttled' | 'suspected' | 'backing_off';
  since: string;
  /** That it has lasted. */
  seconds: number;
  /** The last answer of the carrier about it: its code, and up to 40 characters of its words. */
  code: string;
  words: string;
}

/** A queue and its carrier. Times are ISO 8601. */
export interface LaneStatus {
  lane: string;
  /** Messages in the queue, due or postponed; at most 1,000,000 are counted. */
  waiting: number;
  /** Seconds since the first of them was due; null where none is. */
  oldest_seconds: number | null;
  /** Messages that an instance has claimed. */
  submitting: number;
  /** Messages with an unknown outcome, which are looked into. */
  in_doubt: number;
  /** Messages of the last minute, over all instances. */
  sent: number;
  /** Of `sent`: they may have arrived. */
  unknown: number;
  failed: number;
  /** The failed ones, by the code of their error. */
  failures: Record<string, number>;
  /** What slows it down, on any instance. */
  slow: SlowLane[];
  /** The instances that run, as each is connected for the lane, and since when. */
  instances: {
    id: string;
    version: string;
    address: string | null;
    state: 'bound' | 'down' | 'simulated';
    since: string;
    seen_at: string;
  }[];
}

export interface ServiceStatus {
  held: HoldReason | null;
  lanes: LaneStatus[];
}

export interface Pruned {
  messages: number;
  /** Answers of idempotency keys whose recipient was erased. */
  answers: number;
  /** Mails and SMS in inboxes. */
  incoming: number;
  /** Projects that keep the recipient suppressed, by its pseudonym. */
  suppressions: number;
  /** Messages to the recipient that are newer, or have not ended. */
  kept: number;
}

/** Owner's operations without the API; those on a project concern the default project. */
export interface Administration extends ProjectAdministration {
  createProject(name: string): Promise<ProjectSummary>;
  listProjects(): Promise<ProjectSummary[]>;
  /** False when it does not exist. */
  renameProject(id: string, name: string): Promise<boolean>;
  /** A project by its id; null when it does not exist. */
  project(id: string): Promise<ProjectAdministration | null>;
  /**
   * Takes a mail in, for `recipients` or those that it names: `bounced` for a report that a message cannot be
   * delivered, `kept` for mail to the own domain of a project, `ignored` for other answers to a bounce address. The same
   * mail is kept once. Refused: `invalid_request` for anything but mail, `not_found` without a known recipient.
   */
  receiveMail(mail: Uint8Array, recipients?: readonly string[]): Promise<ReceivedAs>;
  /** Whether the data was ever served with a real carrier; then it is never reset. */
  readonly isReal: boolean;
  /** Deliveries, oldest first; `limit` keeps the newest. */
  outbox(filter?: { to?: string; limit?: number }): AsyncIterable<Delivery>;
  /**
   * Deletes everything but projects, their settings and keys, and restores the opening balance. Sends in progress end
   * before it; new ones, in any process, wait until it is done.
   */
  reset(): Promise<void>;
  /** The queue, and the instances that run. */
  status(): Promise<ServiceStatus>;
  /** Null while the service is not held. */
  held(): Promise<Hold | null>;
  /**
   * Ends a hold, and before it every message without an outcome; one that was cut short goes on with the next call. With
   * `queue` a message that may be with its carrier is not submitted again: it ends as unknown, unless its outcome comes.
   * False where the service is not held.
   */
  release(finishAs: FinishAs): Promise<boolean>;
  /**
   * Erases recipients, texts and deliveries of messages that have ended, and incoming messages: those that are older by
   * `olderMs`, 2 days or more, or those of one recipient, at any age without `olderMs`. Answers keep their keys, caps
   * still count, and what was suppressed stays so.
   */
  prune(options: { olderMs?: number; to?: string }): Promise<Pruned>;
  listLanes(): Promise<LaneSummary[]>;
  /** Pauses or resumes a lane on every instance; null when there is no such lane. */
  setLaneStatus(lane: string, status: LaneSummary['status']): Promise<LaneSummary | null>;
  /** Fails and refunds what no instance has begun to submit; null when there is no such batch, in any project. */
  stopBatch(id: string): Promise<StoppedBatch | null>;
  /** Resolves when no message is due or in flight. */
  idle(): Promise<void>;
}

/** A queue: of a route of the configuration, of email, or of the simulated operator. */
export interface LaneSummary {
  lane: string;
  status: 'open' | 'paused';
  /** Messages that wait. */
  waiting: number;
  /** Seconds since the first of them was due; null where none is. */
  oldest_seconds: number | null;
  /** Instances that have a connection for it. */
  connected: number;
  /** What slows it down, on any instance. */
  slow: SlowLane[];
  /** Null while it is open. */
  paused_at: string | null;
}

export interface StoppedBatch {
  id: string;
  total: number;
  sent: number;
  failed: number;
  /** Messages that are being submitted, or in doubt: they keep their outcome. */
  in_progress: number;
  /** Messages that failed by this call. */
  stopped: number;
  /** Their credits. */
  refunded: number;
}
