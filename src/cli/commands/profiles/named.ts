import type { ConfigFile, Profile } from '../../config/profiles.js';
import { noSuchProfile } from '../../config/settings.js';

/** The profile of that name; throws CliError (exit 2) if there is none. */
export function namedProfile({ profiles }: ConfigFile, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) throw noSuchProfile(name, profiles);
  return profile;
}
