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

/**
 * What is usable and should not stay as it is, of a database and of a configuration: connections that are not encrypted,
 * and files with secrets that others can read. Rejects with ConfigurationError, or DataError for the URL.
 */
export async function warningsOf({
  database,
  configuration,
}: {
  database?: string | undefined;
  configuration?: ConfigurationSource | undefined;
}): Promise<string[]> {
  const warnings: string[] = [];
  if (database !== undefined)
    warnings.push(...(await import('./storage/postgres/database/connection.js')).databaseWarnings(database));
  if (configuration !== undefined) {
    const { carrierWarnings } = await import('./carriers/configured/check-carriers.js');
    warnings.push(...carrierWarnings(configuration));
  }
  return warnings;
}

/** Prepares one message over a route of a configuration; nothing is stored. Rejects with ConfigurationError. */
export async function tryRoute(
  source: ConfigurationSource,
  message: { route: string; to: string; text: string },
): Promise<RouteTrial> {
  return (await import('./carriers/configured/try-route.js')).tryRoute(source, message);
}
