import { idAsWritten } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';

const view: View<{ url: string }> = { columns: [field('url')], record: (link) => link };

/** Of messages and batches. */
const idForm = /^[\w-]{1,100}$/;

export const open: CommandBody<'io' | 'config'> = (command, { io, config }) => {
  command
    .description('Open the dashboard of the service in your browser.')
    .argument('[page]', 'messages, or the id of a message');
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: ['It needs no key: the dashboard asks you to sign in.'],
    examples: [
      ['urtuu open', 'the dashboard'],
      ['urtuu open messages', 'its list of messages'],
    ],
    exits: [],
    json: '{"url": "https://sms.example.mn/dashboard/messages"}',
  });
  command.action(async (page: string | undefined) => {
    if (config.sandbox)
      throw usageError('the sandbox has no dashboard', 'Run: `urtuu serve`; then sign in: `urtuu dashboard`');
    const path = pathOf(page);
    const { baseUrl } = await config.settings();
    const url = `${new URL(baseUrl).origin}/dashboard${path}`;
    await io.print(view, { url });
    if (io.printer.isTerminal && (await io.openInBrowser(url))) io.note('Opened in your browser.');
  });
};

function pathOf(page: string | undefined): string {
  if (page === undefined) return '';
  if (page === 'messages') return '/messages';
  if (!idForm.test(page)) throw usageError('no such page', 'Give messages, or the id of a message.');
  return `/messages/${idAsWritten(page)}`;
}
