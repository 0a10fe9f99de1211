import type { Pruned } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { wantedRecipient } from '../../input/recipients.js';
import { confirmed } from '../../input/required.js';
import { readTime, timeOf, type WrittenTime } from '../../input/time.js';
import { field, type View } from '../../output/view.js';
import { counted } from '../../text/wording.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from './store.js';

const columns = ['messages', 'answers', 'incoming', 'suppressions', 'kept'] as const;

const view: View<Pruned> = {
  columns: columns.map((name) => field(name, { kind: 'number' })),
  record: (pruned) => Object.fromEntries(columns.map((name) => [name, pruned[name]])),
};

interface Options extends StoreOptions {
  olderThan?: WrittenTime;
  recipient?: string;
}

const youngest = 2 * 86_400_000;

export const servicePrune: CommandBody<'options' | 'io' | 'network' | 'config' | 'clock'> = (
  command,
  context,
) => {
  command
    .description('Erase recipients, texts and deliveries of old messages, even while the service runs.')
    .option(
      '--older-than <time>',
      'messages accepted before this time: 180d ago, a date; at least 2d ago',
      readTime,
    )
    .option('--recipient <to>', 'only messages to and from this number or address');
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    notes: [
      'Incoming messages are deleted. Unfinished messages stay as they are. Ids,',
      'outcomes, credits, ledger, batch counts and idempotency keys are kept: a repeat',
      'never sends again, and its answer has an empty recipient.',
      '',
      '--recipient alone erases one person, however old the messages are. Caps and',
      'do-not-send list keep an HMAC, so they still work. It exits 3 if messages are',
      'unfinished; run it again later.',
      '',
      'A running service does it once a day:',
      '  urtuu service settings set retention_days 180',
    ],
    examples: [
      ['urtuu service prune --older-than 180d --yes', 'erase everyone'],
      ['urtuu service prune --recipient 99112233', 'erase one person'],
    ],
    ok: 'erased',
    exits: [3, 8, 12],
    json: '{"messages": 48200, "answers": 30150, "incoming": 12, "suppressions": 0, "kept": 0}',
  });
  command.action(async ({ olderThan, recipient, ...options }: Options) => {
    const { io, clock } = context;
    if (olderThan === undefined && recipient === undefined)
      throw usageError('missing: --older-than or --recipient', 'See: `urtuu service prune --help`');
    const to = recipient === undefined ? undefined : wantedRecipient(recipient);
    const before = olderThan === undefined ? null : timeOf(olderThan, clock.now());
    const olderMs = before === null ? null : clock.now() - Date.parse(before);
    if (olderMs !== null && olderMs < youngest)
      throw usageError('--older-than must be 2 days ago or earlier', 'The caps count newer messages.');
    const store = await ownedStore(context, options);
    noteStore(io, store);
    const shown = to === undefined ? '' : io.printer.recipient(to);
    const what =
      to === undefined ? 'recipients and texts of messages' : `${shown} and the texts of its messages`;
    await confirmed(context, `Erase ${what}${before === null ? '' : ` from before ${before}`}?`);
    const pruned = await store.administration.prune({
      ...(olderMs === null ? {} : { olderMs }),
      ...(to === undefined ? {} : { to }),
    });
    if (to !== undefined && columns.every((name) => pruned[name] === 0)) {
      throw new CliError('not_found', exits.missing, `no message to ${shown}, and none from it`, {
        hint: 'Nothing was erased. An erased message has no recipient.',
      });
    }
    await io.print(view, pruned);
    if (pruned.kept === 0) return;
    throw new CliError('kept', exits.partly, `${counted(pruned.kept, 'message')} to ${shown} kept`, {
      hint: `${olderMs === null ? 'They' : 'They are newer, or'} are unfinished. Run it again later.`,
    });
  });
};
