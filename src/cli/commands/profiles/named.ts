import type { Config } from '../../config/config.js';
import type { Profile } from '../../config/profiles.js';
import { noSuchProfile } from '../../config/settings.js';

/** The profile of that name; throws CliError (exit 2) if there is none. */
export async function namedProfile(config: Config, name: string): Promise<Profile> {
  const { profiles } = await config.read();
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) throw noSuchProfile(name, profiles);
  return profile;
}
