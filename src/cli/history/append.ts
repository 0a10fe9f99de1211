import { dirname } from 'node:path';
import { normalizeRecipient } from '../../contract/index.js';
import type { Config } from '../config/config.js';
import type { Io } from '../io.js';
import { makeFolder } from '../platform/make-folder.js';
import type { Clock } from '../time/clock.js';
import { type HistoryEntry, historyFile, type Sent } from './file.js';

interface Place {
  readonly config: Pick<Config, 'stateDirectory' | 'sandbox' | 'settings'>;
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>;
  readonly options: { readonly verbose?: boolean };
  readonly io: Pick<Io, 'note'>;
}

/** Records a send, if possible: a failure must not change how the send ends. */
export async function appendHistory({ config, clock, options, io }: Place, sent: Sent): Promise<void> {
  try {
    const settings = config.sandbox ? null : await config.settings();
    const entry: HistoryEntry = {
      time: new Date(clock.now()).toISOString(),
      base_url: settings?.baseUrl ?? 'sandbox',
      profile: settings?.profileName ?? null,
      channel: null,
      id: null,
      key: null,
      job: null,
      credits: null,
      ...sent,
      to: sent.to === undefined || sent.to === null ? null : normalizeRecipient(sent.to),
    };
    const { writeEntry } = await import('./write.js');
    const file = historyFile(config.stateDirectory);
    makeFolder(dirname(file));
    await writeEntry(file, entry, clock);
  } catch (error) {
    if (options.verbose) io.note(`cannot write the history: ${(error as Error).message}`);
  }
}

/** Records a send that is in doubt, or that the service recorded as failed; other errors leave no message. */
export async function appendFailedSend(
  place: Place,
  error: unknown,
  sent: Omit<Sent, 'status'>,
): Promise<void> {
  const { UrtuuError } = await import('../../client/index.js');
  if (!(error instanceof UrtuuError)) return;
  const { inDoubt, id = null, idempotencyKey: key } = error;
  if (inDoubt || id !== null)
    await appendHistory(place, {
      ...sent,
      id,
      key,
      status: inDoubt ? 'in_doubt' : 'failed',
      credits: inDoubt ? null : 0,
    });
}
