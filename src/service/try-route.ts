import type { ConfigurationSource, RouteTrial } from './carriers/configured/configuration.js';

/** Prepares one message over a route of a configuration; nothing is stored. Rejects with ConfigurationError. */
export async function tryRoute(
  source: ConfigurationSource,
  message: { route: string; number: string; text: string },
): Promise<RouteTrial> {
  // Loaded late, as every carrier.
  return (await import('./carriers/configured/try-route.js')).tryRoute(source, message);
}
