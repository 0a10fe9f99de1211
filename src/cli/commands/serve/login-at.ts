import { isLoopback } from '../../../contract/index.js';
import type { PrintedCommand } from '../../config/printed-command.js';
import type { Context } from '../../context.js';

/**
 * The command that saves the first key of a service, in a separate profile if there are others; with the key's file,
 * or a prompt for it.
 */
export async function loginAt(
  config: Context['config'],
  baseUrl: string,
  file: string | undefined,
): Promise<PrintedCommand> {
  // The service also runs with a damaged configuration.
  const { profiles } = await config.read().catch(() => ({ profiles: {} }));
  const profile = freeName(profiles, baseUrl);
  const { protocol, hostname } = new URL(baseUrl);
  return config.commandLine(['login'], {
    '--profile': profile,
    '--use': profile !== undefined,
    '--base-url': baseUrl,
    '--api-key-file': file,
    '--allow-http': protocol === 'http:' && !isLoopback(hostname),
  });
}

/** Undefined without profiles: the first one needs no name. */
function freeName(
  profiles: Readonly<Record<string, { base_url?: string }>>,
  baseUrl: string,
): string | undefined {
  if (Object.keys(profiles).length === 0) return undefined;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? 'local' : `local-${count}`;
    if (!Object.hasOwn(profiles, name) || profiles[name]?.base_url === baseUrl) return name;
  }
}
