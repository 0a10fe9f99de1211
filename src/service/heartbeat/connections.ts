import type { Carrier } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { LaneConnection } from '../storage/instances.js';

/** Since when each lane has had its current connection state; updated with each heartbeat. */
export class Connections {
  readonly #carriers: readonly Carrier[];
  readonly #clock: Clock;
  /** On the monotonic clock. */
  readonly #known = new Map<string, { state: LaneConnection['state']; since: number }>();

  constructor(carriers: readonly Carrier[], clock: Clock) {
    this.#carriers = carriers;
    this.#clock = clock;
    this.look();
  }

  look(): LaneConnection[] {
    const now = this.#clock.monotonic();
    return this.#carriers
      .filter(({ kind }) => kind !== 'retired')
      .flatMap((carrier) =>
        carrier.lanes.map((lane) => {
          const state = stateOf(carrier, lane);
          const known = this.#known.get(lane);
          const since = known?.state === state ? known.since : now;
          this.#known.set(lane, { state, since });
          return { lane, state, forMs: Math.floor(now - since) };
        }),
      );
  }
}

function stateOf(carrier: Carrier, lane: string): LaneConnection['state'] {
  if (carrier.kind === 'simulated') return 'simulated';
  const isConnected = carrier.isConnected?.(lane) ?? carrier.capacity(lane) > 0;
  return isConnected ? 'bound' : 'down';
}
