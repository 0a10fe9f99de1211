import { isApiKey } from '../../../contract/index.js';
import type { Config } from '../../config/config.js';
import { usageError } from '../../errors.js';

/** From URTUU_SANDBOX_KEY. Throws CliError (exit 2) for a text of another form, which it does not show. */
export function sandboxKeyOf({ env }: Pick<Config, 'env'>): { sandboxKey?: string } {
  const key = env.URTUU_SANDBOX_KEY?.trim();
  if (!key) return {};
  if (isApiKey(key)) return { sandboxKey: key };
  throw usageError('URTUU_SANDBOX_KEY is not a key', 'Print one with: `urtuu keys example`');
}
