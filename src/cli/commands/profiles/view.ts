import type { Profile } from '../../config/profiles.js';
import { field, type View } from '../../output/view.js';

export interface ProfileRow {
  name: string;
  profile: Profile;
  current: boolean;
}

const keyOf = ({ key_command: command, api_key: key }: Profile): string =>
  command !== undefined ? 'command' : key !== undefined ? 'stored' : 'none';

/** A profile without its key. */
export const profileView: View<ProfileRow> = {
  columns: [
    field('name'),
    field('current'),
    { name: 'base_url', value: ({ profile }) => profile.base_url },
    { name: 'key', value: ({ profile }) => keyOf(profile) },
    { name: 'key_command', value: ({ profile }) => profile.key_command, detail: true },
    { name: 'allow_http', value: ({ profile }) => profile.allow_http ?? false, detail: true },
    { name: 'local_to', value: ({ profile }) => profile.local_to, detail: true },
  ],
  record: ({ name, current, profile }) => ({
    name,
    current,
    base_url: profile.base_url ?? null,
    key: keyOf(profile),
    key_command: profile.key_command ?? null,
    allow_http: profile.allow_http ?? false,
    local_to: profile.local_to ?? null,
  }),
  empty: 'No profiles. Create one with: `urtuu login`',
};
