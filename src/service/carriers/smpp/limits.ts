import type { Clock } from '../../clock.js';
import { ownRouteRates, type RouteRates } from '../../storage/route-limits.js';

/** The right to one connection, which may be lost. */
export interface Bind {
  /** Whether submissions may begin: while enough of it is left for their answers. */
  mayBegin(): boolean;
  /** Whether anything may go out. */
  isHeld(): boolean;
  /** To another instance: nothing is wrong where it ends. */
  readonly isGivenBack: boolean;
  /** Once the connection has ended. */
  release(): Promise<void>;
}

/** The connections of a lane that a carrier allows, of each mode as many. */
export interface BindsOf {
  lane: string;
  mode: string;
  binds: number;
}

/** The limits of routes, over all instances that share them. */
export interface RouteLimits extends RouteRates {
  /** One of a lane's binds, until it is released; null while there is none to be had. `onChange`: it may be lost, or held on. */
  takeBind(of: BindsOf, onChange: () => void): Promise<Bind | null>;
}

/** For one instance: every bind is its own. */
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
