import type { CarrierCheck, ConfigurationSource } from './carriers/configured/configuration.js';

/**
 * Connects to every carrier of a configuration, logs in and sends nothing: a check of each, within 10 s. Rejects with
 * ConfigurationError.
 */
export async function checkConfiguration(source: ConfigurationSource): Promise<Promise<CarrierCheck>[]> {
  // Loaded late: most services have no carrier.
  const { checkCarriers } = await import('./carriers/configured/check-carriers.js');
  return checkCarriers(source);
}
