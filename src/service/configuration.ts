import type { CarrierCheck, ConfigurationSource, RouteTrial } from './carriers/configured/configuration.js';

// The carriers load late: most services have none.

/**
 * Connects to every carrier of a configuration, logs in and sends nothing: a check of each, within 10 s. Rejects with
 * ConfigurationError.
 */
export async function checkConfiguration(source: ConfigurationSource): Promise<Promise<CarrierCheck>[]> {
  const { checkCarriers } = await import('./carriers/configured/check-carriers.js');
  return checkCarriers(source);
}

/** Prepares one message over a route of a configuration; nothing is stored. Rejects with ConfigurationError. */
export async function tryRoute(
  source: ConfigurationSource,
  message: { route: string; number: string; text: string },
): Promise<RouteTrial> {
  return (await import('./carriers/configured/try-route.js')).tryRoute(source, message);
}
