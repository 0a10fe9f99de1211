import type {
  AcceptResult,
  BatchAcceptance,
  BatchResult,
  MessageAcceptance,
  VerificationAcceptance,
  VerificationResult,
} from './acceptance.js';
import type { Dispatching } from './dispatching.js';
import type { Events } from './events.js';
import type { Holding } from './holding.js';
import type { Inbox } from './inbox.js';
import type { Insights, LaneDepth, Unjoined } from './insights.js';
import type { LaneControl } from './lanes.js';
import type { BatchQuery, Listed, MessageQuery, PageRequest } from './lists.js';
import type { Pruning } from './pruning.js';
import type {
  BatchRecord,
  BoundAnswer,
  Instant,
  KeyRecord,
  LedgerPage,
  LedgerPageRequest,
  LedgerRecord,
  MessageRecord,
  NewKey,
  ProjectRecord,
  VerificationOfMessage,
  VerificationRecord,
} from './records.js';
import type { RouteBinds, RouteDays } from './route-limits.js';
import type { Suppressions } from './suppressions.js';

export type * from './acceptance.js';
export type * from './dispatching.js';
export type * from './events.js';
export type * from './holding.js';
export type * from './inbox.js';
export type * from './insights.js';
export type * from './lists.js';
export type * from './records.js';
export type * from './suppressions.js';
export type * from './tried.js';

/**
 * Everything the service remembers. Each method is one durable transaction: committed once it resolves, undone if it
 * rejects, unless the connection was lost during its commit (503 `unavailable`). Several
 * processes may use one store at once; nothing is true in memory only. Every query is confined to the project it names.
 *
 * The engine owns time: methods take durations in milliseconds, and every time in a record is the engine's. A stored
 * time in the future, which only a clock that was set back explains, counts as now.
 */
export interface Store
  extends Pruning,
    Dispatching,
    Events,
    Holding,
    Inbox,
    Insights,
    LaneControl,
    RouteBinds,
    RouteDays,
    SignIns,
    Suppressions {
  /** Null if a project with this id already exists. */
  createProject(project: Pick<ProjectRecord, 'id' | 'name' | 'balance'>): Promise<ProjectRecord | null>;
  getProject(id: string): Promise<ProjectRecord | null>;
  listProjects(): Promise<ProjectRecord[]>;
  /** Returns the settings as stored afterwards. */
  changeSettings(projectId: string, change: (settings: string) => string): Promise<string>;
  /**
   * Records lanes of real carriers permanently, across resets; returns all recorded ones. None means that the store
   * was never served with a real carrier.
   */
  recordLanes(lanes: readonly string[]): Promise<string[]>;
  /** Once for each recorded lane: ids that an earlier release has stored get the form of SMPP, in lower case without leading zeros. */
  normalizeReceiptIds(lanes: readonly string[]): Promise<void>;
  /** False if there is no such project. */
  renameProject(id: string, name: string): Promise<boolean>;
  /**
   * Adds credits; a negative amount removes as many as there are. Returns the new balance. With an `id`, only once,
   * however often it is called.
   */
  credit(projectId: string, amount: number, about?: { id: string; note: string | null }): Promise<number>;
  listLedger(projectId: string): Promise<LedgerRecord[]>;
  /** Newest first. */
  listLedgerPage(projectId: string, page: LedgerPageRequest): Promise<LedgerPage>;

  /**
   * Holds back everything new for `holdMs`, in every process: nothing is accepted or claimed. Called again by the
   * same owner, it extends the time. False while another owner does it.
   */
  beginReset(owner: string, holdMs: number): Promise<boolean>;
  /**
   * Deletes everything except projects, their settings and keys, and restores every opening balance. Returns the
   * messages that may still be being submitted. Holds back for another `holdMs`.
   */
  reset(balance: number, holdMs: number): Promise<{ id: string; to: string }[]>;
  endReset(owner: string): Promise<void>;

  /** `too_many`: the project already has `maxActive` active keys. `over`: it would already be expired. */
  addKey(key: NewKey, maxActive: number): Promise<KeyRecord | 'too_many' | 'over'>;
  /** Null if the project has, or had, a key: of many starting processes, one creates it. */
  addFirstKey(key: NewKey): Promise<KeyRecord | null>;
  listKeys(projectId: string): Promise<KeyRecord[]>;
  /** False when there is no such active key. */
  revokeKey(projectId: string, id: string): Promise<boolean>;
  /** At most once a minute; further calls write nothing. */
  recordKeyUse(id: string): Promise<void>;

  /** `undefined` for an unused key, null while its first request is running. */
  findAnswer(projectId: string, idempotencyKey: string): Promise<BoundAnswer | null | undefined>;
  /** Checks key, suppressions, caps and funds, in this order, then charges and stores; a refusal stores nothing. */
  acceptMessage(acceptance: MessageAcceptance): Promise<AcceptResult>;
  acceptBatch(acceptance: BatchAcceptance): Promise<BatchResult>;
  acceptVerification(acceptance: VerificationAcceptance): Promise<VerificationResult>;

  getMessage(projectId: string, id: string): Promise<MessageRecord | null>;
  /** Those of the ids that messages of the project have. */
  ownMessages(projectId: string, ids: readonly string[]): Promise<string[]>;
  /** Of any project, for a carrier's report about it. */
  findMessage(id: string): Promise<MessageRecord | null>;
  getBatch(projectId: string, id: string): Promise<BatchRecord | null>;
  /** In the order of acceptance, starting after `after`; null if the batch or `after` does not exist. */
  listBatchMessages(projectId: string, batchId: string, page: PageRequest): Promise<MessageRecord[] | null>;
  /**
   * Newest first by acceptance, starting after `after`, including verification messages; null if `after` does not
   * exist.
   */
  listMessages(
    projectId: string,
    filter: MessageQuery,
    page: PageRequest,
  ): Promise<Listed<MessageRecord> | null>;
  listBatches(projectId: string, filter: BatchQuery, page: PageRequest): Promise<Listed<BatchRecord> | null>;

  /** By name of the lanes with waiting or claimed messages. */
  queueDepth(): Promise<LaneDepth[]>;
  /** Of the last 24 hours, at most 10,000. */
  countUnjoined(): Promise<Unjoined[]>;

  getVerification(projectId: string, id: string): Promise<VerificationRecord | null>;
  /** The verifications of these messages; nothing for other messages. */
  findVerifications(messageIds: readonly string[]): Promise<VerificationOfMessage[]>;
  /**
   * Checks a code of a pending verification. The right one verifies it; a wrong one uses up an attempt, and with none
   * left it fails. `tried` is false if it was already closed.
   */
  checkVerification(
    projectId: string,
    id: string,
    matches: (codeHash: Uint8Array) => boolean,
  ): Promise<{ tried: boolean; verification: VerificationRecord } | null>;
}

export interface SignInRecord {
  /** The first 12 characters of its hash, in hex. */
  id: string;
  projectId: string;
  /** A link that was not used, or a session. */
  isLink: boolean;
  createdAt: Instant;
  expiresAt: Instant;
}

/** Sign-ins to the dashboard: links that open one session each, and sessions, both by the SHA-256 of their token. */
export interface SignIns {
  addSignInLink(link: { hash: Uint8Array; projectId: string; lifeMs: number }): Promise<void>;
  /** Uses up a link and opens a session of its project, whose id it returns; null for a used or expired link. */
  openSession(link: Uint8Array, session: { hash: Uint8Array; lifeMs: number }): Promise<string | null>;
  /** The project of a session; null for an unknown or expired one. */
  findSession(hash: Uint8Array): Promise<string | null>;
  endSession(hash: Uint8Array): Promise<void>;
  /** Those of all projects that are open, newest first. */
  listSignIns(): Promise<SignInRecord[]>;
  /** Ends one by its id, or all; returns how many. */
  endSignIns(id: string | null): Promise<number>;
  /** The address of the dashboard on the newest instance that serves one. */
  recordDashboard(url: string, publicUrl: string | null): Promise<void>;
  /** Where others reach the service, over https: the last one that an instance was started with. */
  publicUrl(): Promise<string | null>;
  dashboardUrl(): Promise<string | null>;
}
