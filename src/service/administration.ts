import type { MailAdministration, ReceivedAs } from './inbox/mail-administration.js';
import type { Settings, SettingsPatch } from './settings.js';
import type { HoldReason, KeyScope, LedgerReason, Unfinished } from './storage/records.js';

export type { KeyScope };

export interface ApiKey {
  id: string;
  /** First 12 characters of the secret; null for a key of an older release. */
  prefix: string | null;
  label: string | null;
  /** The session of the dashboard that made it, by its id; null for any other key. */
  created_by: string | null;
  /** `send`: every POST; `read`: every GET, without what people wrote; `inbox`: the inbox with its texts, and the outbox. */
  scope: readonly KeyScope[];
  created_at: string;
  /** When it expires: from then on it is refused like an unknown key. Null for a key that does not expire. */
  expires_at: string | null;
  /** Accurate to a minute; null for a key that was never used. */
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface NewApiKey {
  /** At most 100 characters. */
  label?: string;
  /** The session of the dashboard that makes it. */
  created_by?: string;
  /** `send` and `read` when absent. */
  scope?: readonly KeyScope[];
  /** ISO 8601, in the future; never when absent. */
  expires_at?: string;
  /** Seconds from now, by the clock of the service's data; instead of `expires_at`. */
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
  /** The code of a verification; null for other messages. */
  code: string | null;
  /** The route or operator that accepted it. */
  route: string;
  delivered_at: string;
}

export interface SmsDelivery extends AnyDelivery {
  channel: 'sms';
  /** As delivered: without links if the route allows none. */
  text: string;
  subject: null;
  html: null;
  from: null;
  reply_to: null;
}

export interface EmailDelivery extends AnyDelivery {
  channel: 'email';
  /** At least one of text and html is present. */
  text: string | null;
  subject: string;
  html: string | null;
  from: string | null;
  reply_to: string | null;
}

/** A message in the outbox of the simulated operator or mail carrier. */
export type Delivery = SmsDelivery | EmailDelivery;

/** The owner's operations on a project, without the API. Invalid requests throw `invalid_request`. */
export interface ProjectAdministration extends MailAdministration {
  /** Creates a key. Only this answer contains its secret. Refused if there are 10 active keys. */
  createKey(options?: NewApiKey): Promise<ApiKey & { secret: string }>;
  /** Creates a key only if the project never had one: of instances that start together, only one creates it. */
  createFirstKey(): Promise<(ApiKey & { secret: string }) | null>;
  listKeys(): Promise<ApiKey[]>;
  /** Revokes a key, starting with the next request. False for an unknown or revoked one. */
  revokeKey(id: string): Promise<boolean>;
  /**
   * Adds credits (a negative amount removes them), with a note of at most 100 characters; returns the new balance.
   * `id`, a UUID, becomes the `subject_id` of the ledger entry.
   */
  credit(amount: number, options?: { note?: string; id?: string }): Promise<number>;
  /** Every change of the balance, oldest first. */
  ledger(): Promise<LedgerEntry[]>;
  /** The same, newest first, page by page; only those at or after `since`, an ISO time. */
  newestLedger(filter?: { since?: string }): AsyncIterable<LedgerEntry>;
  /**
   * A link that signs in to the dashboard once, within 10 minutes: of this project, or of all projects with this one
   * first. With `readOnly` its session changes and sends nothing. Null if no instance has served the dashboard yet.
   */
  createDashboardLink(options?: { allProjects?: boolean; readOnly?: boolean }): Promise<string | null>;
  settings: {
    get(): Promise<Settings>;
    /** Changes the given fields, which may depend on the current settings; returns all settings. */
    update(patch: SettingsPatch | ((current: Settings) => SettingsPatch)): Promise<Settings>;
  };
}

/** A service that sends nothing until its owner releases it, and its unfinished messages. */
export interface Hold extends Unfinished {
  reason: HoldReason;
}

/** `sent`: with `delivery: "unknown"`, charged. `failed`: refunded. `queue`: they are queued again. */
export type FinishAs = 'sent' | 'failed' | 'queue';

/** Something that slows a lane down, or a project on it. */
export interface SlowLane {
  /** Id and name of the project; null for the whole lane. */
  project: string | null;
  project_name: string | null;
  /**
   * `throttled`: its rate is lowered. `suspected`: nothing is accepted. `backing_off`: an answer pauses it. `day_limit`: it
   * waits for its limit of 24 hours.
   */
  state: 'throttled' | 'suspected' | 'backing_off' | 'day_limit';
  since: string;
  /** How long it has lasted. */
  seconds: number;
  /** The carrier's last answer about it: the code, and up to 40 characters of its text. */
  code: string;
  words: string;
}

/** A queue and its carrier. Times are ISO 8601. */
export interface LaneStatus {
  lane: string;
  /** Messages in the queue, due or postponed; at most 1,000,000 are counted. */
  waiting: number;
  /** Seconds since the first of them was due; null if there is none. */
  oldest_seconds: number | null;
  /** Messages that an instance has claimed. */
  submitting: number;
  /** Messages with an unknown outcome that the service tries to resolve. */
  in_doubt: number;
  /** Messages of the last minute, over all instances. */
  sent: number;
  /** Of `sent`: they may have arrived. */
  unknown: number;
  failed: number;
  /** The failed ones, by the code of their error. */
  failures: Record<string, number>;
  /**
   * Receipts and incoming messages that changed nothing, by reason: `body`, `fields` and `state` were not read, since
   * the running instances started; `unjoined` match no message, in the last 24 hours.
   */
  unread: Record<string, number>;
  /** What slows it down, on any instance. */
  slow: SlowLane[];
  /** Null while it is open. */
  paused_at: string | null;
  /** The running instances, with the state of their connection for the lane and its start. */
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
  /** Projects whose batches and bulk emails wait; `until_clock`: on a clock in the project's zone, `08:00`. */
  quiet: { project: string; project_name: string; until: string; until_clock: string; zone: string }[];
  lanes: LaneStatus[];
}

export interface Pruned {
  messages: number;
  /** Answers bound to idempotency keys from which a recipient was erased. */
  answers: number;
  /** Mails and SMS in inboxes. */
  incoming: number;
  /** Projects in which the recipient remains suppressed, under its pseudonym. */
  suppressions: number;
  /** Messages to the recipient that are newer or unfinished. */
  kept: number;
}

/** The owner's operations without the API; those on a project apply to the default project. */
export interface Administration extends ProjectAdministration {
  createProject(name: string): Promise<ProjectSummary>;
  listProjects(): Promise<ProjectSummary[]>;
  /** False when it does not exist. */
  renameProject(id: string, name: string): Promise<boolean>;
  /** A project by its id; null when it does not exist. */
  project(id: string): Promise<ProjectAdministration | null>;
  /**
   * Receives a mail, for `recipients` or those named in it: `bounced` for a report that a message cannot be
   * delivered, `complained` for one that its recipient complains of, who gets no more of its kind, `kept` for mail to a
   * project's own domain, `ignored` for other answers to a bounce address. The same
   * mail is kept only once. Refused with `invalid_request` for anything but mail, with `not_found` without a known
   * recipient.
   */
  receiveMail(mail: Uint8Array, recipients?: readonly string[]): Promise<ReceivedAs>;
  /** Whether the data was ever served with a real carrier; if so, it is never reset. */
  readonly isReal: boolean;
  /** Deliveries, oldest first; `to` in any spelling, `limit` keeps the newest. */
  outbox(filter?: { to?: string; limit?: number }): AsyncIterable<Delivery>;
  /**
   * Deletes everything except projects, their settings and keys, and restores the opening balance. Waits for sends in
   * progress; new ones, in any process, wait for it.
   */
  reset(): Promise<void>;
  /** The queue, and the running instances. */
  status(): Promise<ServiceStatus>;
  /** Null while the service is not held. */
  held(): Promise<Hold | null>;
  /**
   * Ends a hold, after finishing every unfinished message; if interrupted, the next call continues. With `queue`, a
   * message that may be with its carrier is not submitted again: it ends as unknown, unless its outcome arrives.
   * False if the service is not held.
   */
  release(finishAs: FinishAs): Promise<boolean>;
  /**
   * Erases recipients, texts and deliveries of finished messages, and incoming messages: those older than `olderMs`,
   * which is 2 days or more, or those of one recipient, of any age without `olderMs`. Idempotency keys keep their
   * answers, caps still count, and suppressions remain.
   */
  prune(options: { olderMs?: number; to?: string }): Promise<Pruned>;
  listLanes(): Promise<LaneSummary[]>;
  /** Pauses or resumes a lane on every instance; null when there is no such lane. */
  setLaneStatus(lane: string, status: LaneSummary['status']): Promise<LaneSummary | null>;
  /** Fails and refunds the messages that no instance has started to submit; null if no project has such a batch. */
  stopBatch(id: string): Promise<StoppedBatch | null>;
  /** Open sessions of the dashboard and unused links, of all projects, newest first. */
  listSignIns(): Promise<SignIn[]>;
  /** Ends a session or link, or all of them, on every instance; returns how many. */
  endSignIns(id: string | 'all'): Promise<number>;
  /** Resolves when no message is due or in flight. */
  idle(): Promise<void>;
}

/** A session of the dashboard, or a link that opens one. */
export interface SignIn {
  /** 12 characters. */
  id: string;
  kind: 'session' | 'link';
  /** The project that it began with. */
  project: string;
  created_at: string;
  expires_at: string;
  /** First characters of active keys that were made in the session: they outlive it. */
  keys: string[];
}

/** A queue: of a configured route, of email, or of the simulated operator. */
export interface LaneSummary {
  lane: string;
  status: 'open' | 'paused';
  /** Waiting messages. */
  waiting: number;
  /** Seconds since the first of them was due; null if there is none. */
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
  /** Messages that are being submitted, or in doubt: their outcome does not change. */
  in_progress: number;
  /** Messages that this call made fail. */
  stopped: number;
  /** The credits refunded for them. */
  refunded: number;
}
