import type { Channel } from '../../contract/index.js';
import type { ShownAnswer } from './tried.js';

/** Milliseconds without a heartbeat after which an instance counts as gone. */
export const staleAfter = 15_000;

/** `down`: without a connection. `simulated`: needs none. */
export type ConnectionState = 'bound' | 'down' | 'simulated';

/** Something that slows down a lane, or a project on it, with the last answer about it. */
export interface LaneTrouble extends ShownAnswer {
  /** Null for the whole lane. */
  project: string | null;
  /**
   * `throttled`: its rate is lowered. `suspected`: nothing is accepted, and few messages are tried. `backing_off`:
   * paused by an answer about the account, or for lack of one. `day_limit`: its carrier takes no more today.
   */
  state: 'throttled' | 'suspected' | 'backing_off' | 'day_limit';
  /** Milliseconds it has lasted. */
  forMs: number;
}

/** The connection of one instance for a lane. */
export interface LaneConnection {
  lane: string;
  state: ConnectionState;
  /** Milliseconds since it changed. */
  forMs: number;
  /** Absent if there are none. */
  troubles?: readonly LaneTrouble[];
  /** Receipts and messages that changed nothing since the instance started, by reason; absent if there are none. */
  unread?: Readonly<Record<string, number>>;
}

/** Finished messages of a lane. */
export interface LaneFigures {
  lane: string;
  sent: number;
  /** Of `sent`: with an unknown delivery. */
  unknown: number;
  failed: number;
  /** The failed ones, by the code of their error. */
  failures: Record<string, number>;
}

export interface Heartbeat {
  /** Unique to the service object. */
  id: string;
  version: string;
  /** Where it listens; null if it only dispatches. */
  address: string | null;
  carriers: readonly LaneConnection[];
  /** Messages it finished in the last minute. */
  lastMinute: readonly LaneFigures[];
}

/** A current heartbeat: its connections have lasted longer since. */
export interface Instance extends Heartbeat {
  /** Milliseconds since the heartbeat. */
  seenMs: number;
}

/** Messages finished with the same outcome. */
export interface Ended {
  lane: string;
  channel: Channel;
  status: 'sent' | 'failed';
  /** Of sent messages: whether their delivery is unknown. */
  isUnknown: boolean;
  /** Of the error of failed ones. */
  code: string | null;
  count: number;
}

/** Messages finished in a process without a heartbeat, such as an owner's command. */
export interface LeftEnded extends Ended {
  /** Milliseconds since then. */
  forMs: number;
}

/** The processes that serve a store, known by their heartbeats. An embedded service that does not listen has none. */
export interface Instances {
  beat(heartbeat: Heartbeat): Promise<void>;
  /** Those that are not stale, by their ids. */
  list(): Promise<Instance[]>;
  /** Removes an instance that is stopping. */
  leave(id: string): Promise<void>;

  /** Adds to the figures of some instance; each is taken only once. */
  leaveEnded(ended: readonly Ended[]): Promise<void>;
  /** Those not yet taken by any instance. */
  listEnded(): Promise<LeftEnded[]>;
  takeEnded(): Promise<LeftEnded[]>;
}

/** An instance as both engines store it; `queue` holds the last minute. */
export interface InstanceRow {
  id: string;
  version: string;
  address: string | null;
  carriers: string;
  queue: string;
  seen_ms: number;
}

/** What one process has left, as both engines store it. */
export interface LeftRow {
  ended: string;
  for_ms: number;
}

export const toLeftEnded = (rows: readonly LeftRow[]): LeftEnded[] =>
  rows.flatMap(({ ended, for_ms: forMs }) =>
    (JSON.parse(ended) as Ended[]).map((one) => ({ ...one, forMs: Math.max(0, forMs) })),
  );

export function toInstance({
  id,
  version,
  address,
  carriers,
  queue,
  seen_ms: seenMs,
}: InstanceRow): Instance {
  return {
    id,
    version,
    address,
    carriers: (JSON.parse(carriers) as LaneConnection[]).map((one) => ({
      ...one,
      forMs: one.forMs + seenMs,
      ...(one.troubles && {
        troubles: one.troubles.map((each) => ({ ...each, forMs: each.forMs + seenMs })),
      }),
    })),
    // The previous release counts no unknown ones.
    lastMinute: (JSON.parse(queue) as LaneFigures[]).map((one) => ({ ...one, unknown: one.unknown ?? 0 })),
    seenMs,
  };
}
