import pkg from '../../../package.json' with { type: 'json' };
import type { Carrier } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { Ended, Instances, LaneConnection, LaneTrouble } from '../storage/instances.js';
import { Connections } from './connections.js';
import { isRecent, LastMinute } from './last-minute.js';

/** Milliseconds between heartbeats. */
const beatEvery = 5_000;
/** Milliseconds without a connection after which callers no longer wait for one. */
const downAfter = 30_000;

export interface HeartbeatParts {
  instances: Instances;
  carriers: readonly Carrier[];
  /** What slows a lane down here. */
  troublesOf(lane: string): readonly LaneTrouble[];
  /** What changed nothing here, by reason. */
  unreadOf(lane: string): Readonly<Record<string, number>>;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  /** Whether it sends heartbeats even if it does not listen, because it dispatches what others accept. */
  isForOthers: boolean;
  /** Called with messages finished in processes without a heartbeat: this one counts them. */
  onTaken(ended: readonly Ended[]): void;
  report: Report;
}

/** The heartbeats of a service object that serves others. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #connections: Connections;
  readonly #lastMinute: LastMinute;
  #address: string | null = null;
  #isBeating = false;
  #hasFailed = false;
  #cancel = () => {};
  #beating: Promise<void> = Promise.resolve();

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#connections = new Connections(parts.carriers, parts.clock);
    this.#lastMinute = new LastMinute(parts.clock);
  }

  /** The lanes as currently connected here, with what slows them down. */
  get connections(): LaneConnection[] {
    const { troublesOf, unreadOf } = this.#parts;
    return this.#connections.look().map((one) => {
      const troubles = troublesOf(one.lane);
      const unread = unreadOf(one.lane);
      return {
        ...one,
        ...(troubles.length > 0 && { troubles }),
        ...(Object.keys(unread).length > 0 && { unread }),
      };
    });
  }

  /** Sets the address from now on; null if it does not listen. Resolves after the heartbeat, which may have failed. */
  async begin(address: string | null): Promise<void> {
    if (address === null && !this.#parts.isForOthers) return this.end();
    this.#address = address;
    this.#isBeating = true;
    this.#cancel();
    this.#beating = this.#beating.then(() => this.#beat());
    return this.#beating;
  }

  /** Whether another instance had a connection for the lane in the last 30 s. */
  async isConnectedElsewhere(lane: string): Promise<boolean> {
    const { instances, owner } = this.#parts;
    return (await instances.list()).some(
      ({ id, carriers }) =>
        id !== owner &&
        carriers.some((one) => one.lane === lane && (one.state !== 'down' || one.forMs < downAfter)),
    );
  }

  /** Counts messages finished here. */
  count(ended: readonly Ended[]): void {
    if (this.#isBeating) this.#lastMinute.add(ended);
  }

  async end(): Promise<void> {
    if (!this.#isBeating) return;
    this.#isBeating = false;
    this.#cancel();
    await this.#beating;
    // If that fails, it is stale soon anyway.
    await this.#parts.instances.leave(this.#parts.owner).catch(() => {});
  }

  async #beat(): Promise<void> {
    if (!this.#isBeating) return;
    this.#cancel();
    const { instances, owner, clock, report, onTaken } = this.#parts;
    try {
      const taken = await instances.takeEnded();
      this.#lastMinute.add(taken.filter(isRecent));
      onTaken(taken);
      await instances.beat({
        id: owner,
        version: pkg.version,
        address: this.#address,
        carriers: this.connections,
        lastMinute: this.#lastMinute.read(),
      });
      this.#hasFailed = false;
    } catch (error) {
      // Once for each outage of the store.
      if (!this.#hasFailed) report(error, { level: 'warning' });
      this.#hasFailed = true;
    }
    if (!this.#isBeating) return;
    this.#cancel = clock.after(beatEvery, () => {
      this.#beating = this.#beat();
    });
  }
}
