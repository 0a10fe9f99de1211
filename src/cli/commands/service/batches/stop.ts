import type { StoppedBatch } from '../../../../service/index.js';
import type { CommandBody } from '../../../command.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { addHelp } from '../../../help/command-help.js';
import { readId } from '../../../input/ids.js';
import { confirmed } from '../../../input/required.js';
import { field, type View } from '../../../output/view.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';

const view: View<StoppedBatch> = {
  columns: [
    field('id'),
    ...(['total', 'sent', 'failed', 'in_progress', 'stopped', 'refunded'] as const).map((name) =>
      field<StoppedBatch>(name, { kind: 'number' }),
    ),
  ],
  record: (batch) => batch,
};

export const serviceBatchesStop: CommandBody<'options' | 'io' | 'network' | 'config'> = (
  command,
  context,
) => {
  command
    .description(
      'Stop a batch on every instance. Messages not submitted yet fail with provider_failed and are refunded; those in progress keep their outcome.',
    )
    .argument('<id>', 'id of the batch', readId);
  addStoreOptions(command);
  addHelp(command, {
    view,
    effects: ['changes'],
    examples: [
      ['urtuu service batches stop 0193a1b2-...', 'after a prompt'],
      ['urtuu service batches stop "$id" --yes --json', 'in a script'],
    ],
    exits: [5, 12],
    json: '{"id": "0193a1b2-...", "total": 1000, "sent": 180, "failed": 810, "in_progress": 10, "stopped": 810, "refunded": 8100}',
  });
  command.action(async (id: string, options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    await confirmed(context, `Stop batch ${id}? Its unsent messages fail and are refunded.`);
    const stopped = await store.administration.stopBatch(id);
    if (stopped === null) {
      throw new CliError('not_found', exits.missing, `no batch ${id}`, {
        hint: 'Check the id and --data or --database.',
      });
    }
    await io.print(view, stopped);
    noteStore(io, store);
  });
};
