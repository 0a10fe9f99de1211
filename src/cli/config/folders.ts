import { join } from 'node:path';

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** Where profiles are kept. */
export function configDirectory({ env, home, platform }: Place): string {
  const base = env.XDG_CONFIG_HOME || (platform === 'win32' ? env.APPDATA : undefined);
  return join(base || join(home, '.config'), 'urtuu');
}

/** Where jobs and the embedded service keep their data. */
export function stateDirectory({ env, home, platform }: Place): string {
  const base = env.XDG_STATE_HOME || (platform === 'win32' ? env.LOCALAPPDATA : undefined);
  return join(base || join(home, '.local', 'state'), 'urtuu');
}
