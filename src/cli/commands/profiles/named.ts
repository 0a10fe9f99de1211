import type { Config, Profile } from '../../config/profiles.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';

export async function namedProfile(
  context: Context,
  name: string,
): Promise<{ config: Config; profile: Profile }> {
  const config = await context.config.read();
  const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  if (profile !== undefined) return { config, profile };
  const names = Object.keys(config.profiles).join(', ') || 'none';
  throw usageError(
    `there is no profile '${name}'`,
    `Profiles: ${names}. Make one with: urtuu login --profile NAME`,
  );
}
