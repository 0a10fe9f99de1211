import type { Profile } from '../../config/profiles.js';
import { noSuchProfile } from '../../config/settings.js';
import type { Context } from '../../context.js';

/** The profile of that name; throws CliError (exit 2) when there is none. */
export async function namedProfile(context: Context, name: string): Promise<Profile> {
  const { profiles } = await context.config.read();
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) throw noSuchProfile(name, profiles);
  return profile;
}
