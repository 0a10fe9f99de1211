import type { Pruned } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { confirmed } from '../../input/required.js';
import { readTime, timeOf, type WrittenTime } from '../../input/time.js';
import { field, type View } from '../../output/view.js';
import { counted } from '../../wording.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from './store.js';

const view: View<Pruned> = {
  columns: [
    field('messages', { kind: 'number' }),
    field('answers', { kind: 'number' }),
    field('kept', { kind: 'number' }),
  ],
  record: ({ messages, answers, kept }) => ({ messages, answers, kept }),
};

interface Options extends StoreOptions {
  olderThan?: WrittenTime;
  recipient?: string;
}

const youngest = { ago: 2 * 86_400_000 };

export const servicePrune: CommandBody<'options' | 'io' | 'network' | 'config' | 'clock'> = (
  command,
  context,
) => {
  command
    .description('Erase recipients, texts and deliveries of old messages, also while the service runs.')
    .option('--older-than <time>', 'of messages accepted before: 180d ago, a date; at least 2d ago', readTime)
    .option('--recipient <to>', 'only of messages to this number or address');
  addStoreOptions(command);
  addHelp(command, {
    view,
    notes: [
      'Messages that have not ended stay as they are. Ids, outcomes, credits, ledger',
      'and counts of batches stay. Idempotency keys stay too: a repeat never sends',
      'again, and its answer has an empty recipient.',
      '',
      '--recipient alone erases everything to one person that is older than 2 days. It',
      'ends with 3 while it keeps newer messages, which the caps count, or others that',
      'have not ended.',
    ],
    examples: [
      ['urtuu service prune --older-than 180d --yes', 'on a schedule'],
      ['urtuu service prune --recipient 99112233', 'erase one person'],
    ],
    ok: 'erased',
    exits: [3, 12],
    json: '{"messages": 48200, "answers": 30150, "kept": 0}',
  });
  command.action(async ({ olderThan, recipient: to, ...options }: Options) => {
    const { io, clock } = context;
    if (olderThan === undefined && to === undefined)
      throw usageError('missing: --older-than or --recipient', 'See: urtuu service prune --help');
    const before = Date.parse(timeOf(olderThan ?? youngest, clock.now()));
    const olderMs = clock.now() - before;
    if (olderMs < youngest.ago)
      throw usageError('--older-than must be 2 days ago or earlier', 'The caps count newer messages.');
    const store = await ownedStore(context, options);
    noteStore(io, store);
    const whom = to === undefined ? 'recipients' : to;
    await confirmed(
      context,
      `Erase ${whom} and texts of messages from before ${new Date(before).toISOString()}?`,
    );
    const pruned = await store.administration.prune({ olderMs, ...(to === undefined ? {} : { to }) });
    if (to !== undefined && pruned.messages + pruned.kept === 0) {
      throw new CliError('not_found', exits.missing, `no message to ${to}`, {
        hint: 'Nothing was erased. A message that was erased before has no recipient any more.',
      });
    }
    await io.print(view, pruned);
    if (pruned.kept === 0) return;
    throw new CliError('kept', exits.partly, `${counted(pruned.kept, 'message')} to ${whom} kept`, {
      hint: 'They are newer, or have not ended. Run it again later.',
    });
  });
};
