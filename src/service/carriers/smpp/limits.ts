import type { Clock } from '../../clock.js';
import { ownRouteRates, type RouteRates } from '../../storage/route-limits.js';

/** The right to one connection; it may be lost. */
export interface Bind {
  /** Whether submissions may start: enough time must be left for their answers. */
  mayBegin(): boolean;
  /** Whether anything may be sent. */
  isHeld(): boolean;
  /** It was returned for another instance, so its end is expected. */
  readonly isGivenBack: boolean;
  /** Call this once the connection has ended. */
  release(): Promise<void>;
}

/** The connections of a lane that a carrier allows, the same number in each mode. */
export interface BindsOf {
  lane: string;
  mode: string;
  binds: number;
}

/** The limits of routes, over all instances that share them. */
export interface RouteLimits extends RouteRates {
  /**
   * One of a lane's binds, until it is released; null while none is available. `onChange`: it may be lost, or kept
   * longer.
   */
  takeBind(of: BindsOf, onChange: () => void): Promise<Bind | null>;
}

/** For a single instance, to which every bind belongs. */
export function localRouteLimits(clock: Clock): RouteLimits {
  const held = new Map<string, number>();
  return {
    async takeBind({ lane, mode, binds }) {
      const route = `${lane}/${mode}`;
      const count = held.get(route) ?? 0;
      if (count >= binds) return null;
      held.set(route, count + 1);
      return {
        mayBegin: () => true,
        isHeld: () => true,
        isGivenBack: false,
        release: async () => void held.set(route, (held.get(route) ?? 1) - 1),
      };
    },
    ...ownRouteRates(clock),
  };
}
