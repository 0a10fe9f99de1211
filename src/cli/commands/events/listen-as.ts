import { UrtuuError } from '../../../client/index.js';
import { afterAll, type EventType, eventDays } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { deliverAll } from './deliver.js';
import { execute } from './execute.js';
import { pagesOf } from './feed.js';
import { forwardTo, readSecret, readTarget, secretFileOf } from './forward.js';
import { openListener } from './listener.js';

/** Milliseconds after a SIGTERM for the event that is under way. */
const endWithin = 20_000;

interface Listening {
  name: string;
  types: EventType[] | undefined;
  from: string | undefined;
  forwardTo: string | undefined;
  exec: string;
}

/** Delivers events under the lock of a listener. Throws CliError (exit 11) if events are gone that it has not seen. */
export async function listenAs(
  context: Pick<Context, 'io' | 'network' | 'config' | 'clock' | 'signal'>,
  { name, types, from, forwardTo: written, exec }: Listening,
): Promise<void> {
  const { io, network, config, clock, signal } = context;
  const target = written === undefined ? null : readTarget(written);
  const release = io.holdSignals({ within: endWithin });
  const { events } = await network.client();
  const listener = await openListener(context, name, from !== undefined, (after) =>
    events.list({ after, limit: 1 }, { signal }).then(
      () => true,
      (error) => !isExpired(error) && Promise.reject(error),
    ),
  );
  const lost = () => {
    const at = listener.place?.at ?? null;
    const [since, option] = at === null ? ['', ''] : [` since ${at}`, ` --since ${at}`];
    return new CliError('cursor_expired', exits.refused, `the events${since} are no longer kept`, {
      hint: `Events are kept for ${eventDays} days, but not through a restore or reset. Start over with --from start, then look up what ${name} missed: \`urtuu messages list${option}\``,
      details: { since: at },
    });
  };
  try {
    const { place, folder } = listener;
    if (place?.cursor === null && from === undefined) throw lost();
    const cursor = place?.cursor ?? from ?? afterAll;
    const secret = target === null ? '' : await readSecret(folder, io);
    const deliver = target === null ? execute(config, exec) : await forwardTo(context, target, secret);
    const pages = pagesOf(context, cursor, types, {
      async began({ next }) {
        // By the service's clock. From the oldest event, or after any other, those of a week may be missed.
        const now = network.lastExchange?.serviceTime ?? clock.now();
        const since = new Date(cursor === afterAll ? now : now - 86_400_000 * eventDays).toISOString();
        // Without a place, the next start would begin from now.
        await listener.moveTo(cursor === afterAll ? next : cursor, place?.cursor ? place.at : since);
        io.note(`Listening as ${name}, from ${place?.cursor ? 'where it stopped' : cursor}.`);
        if (target !== null) io.note(`Its secret: ${secretFileOf(folder)}`);
      },
      place: () => listener.place?.cursor ?? null,
    });
    await deliverAll(context, pages, listener, deliver);
  } catch (error) {
    if (isExpired(error)) {
      await listener.lose();
      throw lost();
    }
    // The signal has ended the call.
    if (!(error instanceof UrtuuError && signal.aborted)) throw error;
  } finally {
    await listener.close();
  }
  release();
}

const isExpired = (error: unknown) => error instanceof UrtuuError && error.code === 'cursor_expired';
