import type { Channel } from '../../contract/index.js';
import type { ShownAnswer } from './tried.js';

/** Milliseconds without a heartbeat after which an instance counts as gone. */
export const staleAfter = 15_000;

/** `down`: without a connection. `simulated`: it needs none. */
export type ConnectionState = 'bound' | 'down' | 'simulated';

/** Something that slows a lane down, or a project on it, with the last answer about it. */
export interface LaneTrouble extends ShownAnswer {
  /** Null for the whole lane. */
  project: string | null;
  /**
   * `throttled`: its rate is lowered. `suspected`: nothing is accepted, and it is tried with little. `backing_off`: an
   * answer of the carrier about the account, or none, pauses it.
   */
  state: 'throttled' | 'suspected' | 'backing_off';
  /** Milliseconds that it has lasted. */
  forMs: number;
}

/** A lane as one instance is connected for it. */
export interface LaneConnection {
  lane: string;
  state: ConnectionState;
  /** Milliseconds that it has been so. */
  forMs: number;
  /** Absent where there are none. */
  troubles?: readonly LaneTrouble[];
}

/** Messages of a lane that have ended. */
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
  /** Where it listens; null where it only dispatches. */
  address: string | null;
  carriers: readonly LaneConnection[];
  /** What has ended there in the last minute. */
  lastMinute: readonly LaneFigures[];
}

/** A heartbeat as it stands now: its connections have lasted since. */
export interface Instance extends Heartbeat {
  /** Milliseconds since the heartbeat. */
  seenMs: number;
}

/** Messages that have ended alike. */
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

/** Messages that ended in a process without a heartbeat, such as a command of the owner. */
export interface LeftEnded extends Ended {
  /** Milliseconds since then. */
  forMs: number;
}

/** The processes that serve a store, by their heartbeats; an embedded service that does not listen has none. */
export interface Instances {
  beat(heartbeat: Heartbeat): Promise<void>;
  /** Those that are not stale, by their ids. */
  list(): Promise<Instance[]>;
  /** Removes an instance that stops. */
  leave(id: string): Promise<void>;

  /** For the figures of an instance: each is taken once. */
  leaveEnded(ended: readonly Ended[]): Promise<void>;
  /** Those that no instance has taken yet. */
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
    // One of the release before counts none as unknown.
    lastMinute: (JSON.parse(queue) as LaneFigures[]).map((one) => ({ ...one, unknown: one.unknown ?? 0 })),
    seenMs,
  };
}
