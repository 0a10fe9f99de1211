import type { SignIn } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { type Column, field, type View } from '../../output/view.js';
import { noteStore, ownedStore, type StoreOptions } from '../service/store.js';

const keys: Column<SignIn> = { name: 'keys', value: (signIn) => signIn.keys.join(' ') };

const view: View<SignIn> = {
  columns: [
    field('id'),
    field('kind'),
    field('project'),
    field('created_at', { kind: 'time' }),
    field('expires_at', { kind: 'time' }),
    keys,
  ],
  record: (signIn) => signIn,
  empty: 'Nobody is signed in, and no link is open.',
};

type Needed = Pick<Context, 'io' | 'network' | 'config'>;

/** `urtuu dashboard sessions`: sessions and open links of all projects; `end`: the id of one to end, or `all`. */
export async function sessions(
  context: Needed,
  options: StoreOptions,
  end: string | undefined,
): Promise<void> {
  const { io } = context;
  const store = await ownedStore(context, options);
  const all = await store.administration.listSignIns();
  if (end === undefined) {
    await io.printAll(view, all);
    noteStore(io, store);
    return;
  }
  const ended = await store.administration.endSignIns(end);
  if (ended === 0 && end !== 'all')
    throw new CliError('not_found', exits.missing, `there is no session or link ${JSON.stringify(end)}`, {
      hint: 'See: `urtuu dashboard sessions`',
    });
  io.note(`Ended ${ended === 1 ? '1 session or link' : `${ended} sessions and links`}.`);
  for (const { id, project, keys: made } of all)
    if (end === 'all' || id === end.toLowerCase())
      for (const key of made)
        io.warn(
          `the key ${key}, made there, still works. To revoke it:`,
          context.config.commandLine(['keys', 'revoke', key], { '--project': project }),
        );
}
