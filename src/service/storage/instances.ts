/** Milliseconds without a heartbeat after which an instance counts as gone. */
export const staleAfter = 15_000;

/** `down`: without a connection. `simulated`: it needs none. */
export type ConnectionState = 'bound' | 'down' | 'simulated';

/** A lane as one instance is connected for it. */
export interface LaneConnection {
  lane: string;
  state: ConnectionState;
  /** Milliseconds that it has been so. */
  forMs: number;
}

/** Messages of a lane that were finalized. */
export interface LaneFigures {
  lane: string;
  sent: number;
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
  /** What it finalized in the last minute. */
  lastMinute: readonly LaneFigures[];
}

/** A heartbeat as it stands now: its connections have lasted since. */
export interface Instance extends Heartbeat {
  /** Milliseconds since the heartbeat. */
  seenMs: number;
}

/** The processes that serve a store, by their heartbeats; an embedded service that does not listen has none. */
export interface Instances {
  beat(heartbeat: Heartbeat): Promise<void>;
  /** Those that are not stale, by their ids. */
  list(): Promise<Instance[]>;
  /** Removes an instance that stops. */
  leave(id: string): Promise<void>;
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
    })),
    lastMinute: JSON.parse(queue) as LaneFigures[],
    seenMs,
  };
}
