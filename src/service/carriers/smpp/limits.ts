import type { Clock } from '../../clock.js';

/** Milliseconds of a route's rate that are taken at once at most. */
export const blockMs = 100;

/** The limits of routes, over all instances that share them. */
export interface RouteLimits {
  /** One of the route's binds, until it is released; null while all are taken. `onLost`: it is no longer held. */
  takeBind(route: string, binds: number, onLost: () => void): Promise<{ release(): Promise<void> } | null>;
  /** Takes up to `wanted` segments of the rate, at most a block; with none granted, the milliseconds to wait. */
  takeRate(
    route: string,
    perSecond: number,
    wanted: number,
  ): Promise<{ granted: number; retryAfterMs: number }>;
}

/** For one instance: every bind is its own. */
export function localRouteLimits(clock: Clock): RouteLimits {
  const held = new Map<string, number>();
  /** When the next segment of a route may go out, on the monotonic clock. */
  const next = new Map<string, number>();
  return {
    async takeBind(route, binds) {
      const count = held.get(route) ?? 0;
      if (count >= binds) return null;
      held.set(route, count + 1);
      return { release: async () => void held.set(route, (held.get(route) ?? 1) - 1) };
    },
    async takeRate(route, perSecond, wanted) {
      const now = clock.monotonic();
      const each = 1_000 / perSecond;
      const block = Math.max(1, Math.floor(blockMs / each));
      const from = Math.max(next.get(route) ?? Number.NEGATIVE_INFINITY, now - (block - 1) * each);
      if (from > now) return { granted: 0, retryAfterMs: Math.ceil(from - now) };
      const granted = Math.min(wanted, Math.floor((now - from) / each) + 1);
      next.set(route, from + granted * each);
      return { granted, retryAfterMs: 0 };
    },
  };
}
