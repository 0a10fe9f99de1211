import type { CommandBody } from '../../command.js';
import type { KeySource } from '../../config/settings.js';
import { addHelp } from '../../help/command-help.js';
import { cannotRead, readableBalance } from '../../network/readable-balance.js';
import { field, type View } from '../../output/view.js';

interface Account {
  profile: string | null;
  base_url: string | null;
  /** The beginning of the key. */
  key: string | null;
  key_source: string;
  /** Null if it could not be read, and for a key that may not read. */
  balance: number | null;
}

const view: View<Account> = {
  columns: [
    field('profile'),
    field('base_url'),
    field('key'),
    field('key_source'),
    field('balance', { kind: 'number' }),
  ],
  record: (account) => account,
};

const sources: Readonly<Record<KeySource['kind'], string>> = {
  file: '--api-key-file',
  environment: 'URTUU_API_KEY',
  stored: 'profile',
  command: 'key_command',
  none: 'none',
  refused: 'none',
};

export const whoami: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command.description('Show the profile, service, key and balance that commands use.');
  addHelp(command, {
    view,
    effects: ['reads'],
    examples: [
      ['urtuu whoami', 'before a send'],
      ['urtuu whoami --value base_url', 'in a script'],
    ],
    exits: [4, 5, 12],
    json: '{"profile": "default", "base_url": "https://sms.example.mn/v1", "key": "urtuu_3kQ9...", "key_source": "profile", "balance": 12340}',
  });
  command.action(async () => {
    const settings = config.sandbox ? null : await config.settings();
    const key = await network.apiKey();
    const account = {
      profile: settings?.profileName ?? null,
      base_url: settings?.baseUrl ?? null,
      key: key === null ? null : beginningOf(key),
      key_source: settings === null ? 'sandbox' : sources[settings.key.kind],
    };
    try {
      const balance = await readableBalance(await network.client());
      await io.print(view, { ...account, balance });
      if (balance === null) io.note(cannotRead);
    } catch (error) {
      await io.print(view, { ...account, balance: null });
      throw error;
    }
  });
};

/** Too little of it to be of use to others. */
const beginningOf = (key: string) => `${key.slice(0, Math.min(10, key.length >> 2))}...`;
