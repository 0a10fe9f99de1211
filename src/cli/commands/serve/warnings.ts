import type { Context } from '../../context.js';
import type { OpenOptions } from '../../network/services.js';
import type { Certificate } from './certificate.js';
import { type DatabaseAccess, databaseError } from './database.js';

/** Of connections that are not encrypted, and secrets that others can read. Throws CliError for unusable ones. */
export async function warningsOf(
  { network }: Pick<Context, 'network'>,
  {
    tls = null,
    database,
    configuration,
  }: { tls?: Certificate | null; database: Pick<DatabaseAccess, 'url' | 'warning'> | null } & Pick<
    OpenOptions,
    'configuration'
  >,
): Promise<string[]> {
  const own = [tls?.warning, database?.warning].filter((warning) => typeof warning === 'string');
  // Nothing else leaves this machine.
  if (database === null && configuration === undefined) return own;
  const parts = { database: database?.url, configuration };
  const others = await network.carriers((service) =>
    service.warningsOf(parts).catch((error) => {
      throw database === null || error.code === 'invalid_configuration'
        ? error
        : databaseError(database.url, error);
    }),
  );
  return [...own, ...others];
}
