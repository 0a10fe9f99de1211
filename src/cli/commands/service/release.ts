import type { Administration, FinishAs, Hold } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { readChoice } from '../../options.js';
import { field, type View } from '../../output/view.js';
import { counted, grouped } from '../../text/wording.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from './store.js';

interface Released extends Hold {
  /** Null if every message had an outcome. */
  finish_as: FinishAs | null;
}

const view: View<Released> = {
  columns: [
    field('reason'),
    field('finish_as'),
    field('messages', { kind: 'number' }),
    field('submitting', { kind: 'number' }),
  ],
  record: ({ reason, finish_as, messages, submitting }) => ({ reason, finish_as, messages, submitting }),
};

const readOutcome = readChoice('sent', 'failed', 'queue');
const outcomes: Readonly<Record<FinishAs, string>> = {
  sent: 'Mark them as sent, with delivery unknown',
  failed: 'Mark them as failed and refund them',
  queue: 'Queue them again',
};

interface Options extends StoreOptions {
  finishAs?: FinishAs;
}

export const serviceRelease: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Release a service that is held after a restore or a failover: it sends again.')
    .option('--finish-as <outcome>', 'messages without an outcome: sent, failed or queue', readOutcome);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['sends'],
    notes: [
      'A held service does not know what was sent since the backup, or in the moments',
      'before the failover. For its messages without an outcome, if any, choose:',
      '  sent    charged, delivery "unknown"; nothing is sent twice',
      '  failed  refunded; choose this if you know that nothing was sent',
      '  queue   sent now, perhaps a second time, except those that were just being',
      '          submitted: they end as sent, with delivery unknown',
    ],
    examples: [
      ['urtuu service release --finish-as sent', 'after a prompt'],
      ['urtuu service release --finish-as failed --data /srv/urtuu --yes', 'in a script'],
    ],
    refused: 'the service is not held',
    exits: [11, 12],
    json: '{"reason": "restored", "finish_as": "sent", "messages": 42, "submitting": 3}',
  });
  command.action(async ({ finishAs: given, ...options }: Options) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    const { administration } = store;
    const hold = await administration.held();
    if (hold === null) throw notHeld(store.name);
    noteStore(io, store);
    io.note(messagesOf(hold));
    const isOpen = hold.messages > 0;
    const finishAs = isOpen ? (given ?? (await choose(io))) : null;
    io.note(lost[hold.reason]);
    // Without open messages too: repeats under keys used since the backup are sent a second time.
    await confirmed(
      context,
      finishAs === null
        ? 'Release the service? Sends under idempotency keys that it does not know are sent again.'
        : `${outcomes[finishAs]}, and release the service?`,
    );
    // A message that arrived in the meantime is charged, and not sent twice.
    await release(administration, finishAs ?? 'sent', store.name);
    await io.print(view, { ...hold, finish_as: finishAs });
  });
};

async function release(administration: Administration, finishAs: FinishAs, name: string): Promise<void> {
  if (await administration.release(finishAs)) return;
  throw new CliError('refused', exits.refused, `another release has ended the hold of ${name}`, {
    hint: 'Some messages may have ended as it chose, others as you chose. See: `urtuu messages list`',
  });
}

async function choose(io: Context['io']): Promise<FinishAs> {
  if (!io.canPrompt)
    throw usageError('missing: --finish-as', 'Without a terminal urtuu never prompts: pass every value.');
  const questions = await io.prompts();
  return questions.choose(
    'What should happen to these messages?',
    readOutcome.words.map((value) => ({ name: `${value}: ${outcomes[value]}`, value })),
  );
}

function messagesOf({ messages, submitting }: Hold): string {
  if (messages === 0) return 'Every message has an outcome.';
  const some = submitting === 0 ? '' : `; ${grouped(submitting)} of them were being submitted`;
  return `${counted(messages, 'message')} without an outcome${some}.`;
}

const lost: Readonly<Record<Hold['reason'], string>> = {
  restored:
    'Idempotency keys used after the backup are unknown: do not resume jobs that have sent since. API keys revoked since then work again.',
  failed_over:
    'Idempotency keys that were not replicated, or used after the time of a recovery, are unknown: do not resume jobs that sent then.',
};

const notHeld = (name: string) =>
  new CliError('refused', exits.refused, `the service in ${name} is not held`, {
    hint: 'Nothing was done. See: `urtuu service status`',
  });
