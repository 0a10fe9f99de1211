import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import { type DataFiles, restoring } from './folder.js';

/** Why data cannot be used: a file, its fault, and what is lost if it is accepted. */
export interface Problem {
  file: keyof DataFiles;
  /** A sentence without its subject: `is missing`. */
  what: string;
  /** In addition to the usual loss of the file. */
  forgotten?: string;
}

const forgottenWithout: Record<Problem['file'], string> = {
  store:
    'messages, balances, API keys and idempotency keys: repeating or resuming a send sends to everyone again',
  carrier: 'the outbox, and which messages the simulated operator has: those under way may be sent again',
  secret: 'the codes of verifications that are pending, and texts with a code that were not sent yet',
  identity: 'nothing; but whether the other files are the newest is unknown',
  rates: 'nothing',
};

/** What is lost with an old copy. */
export const forgottenSince =
  'everything since that copy: idempotency keys used since are unknown, so messages sent since can be sent again';

export function dataError(files: DataFiles, problems: readonly Problem[], cause?: unknown): DataError {
  const folder = dirname(files.store);
  const listed = problems.map(({ file, what }) => `${basename(files[file])} ${what}`).join('; ');
  const forgotten = problems.map(({ file, forgotten = forgottenWithout[file] }) => forgotten);
  return new DataError(`the data in ${folder} is not whole: ${listed}`, {
    hint: readdirSync(folder).some((name) => name.startsWith(restoring))
      ? 'A restore was cut short: run it again.'
      : 'Stop everything that uses the folder and put its files back as they were.',
    forgotten: [...new Set(forgotten)].join('; '),
    ...(cause === undefined ? {} : { cause }),
  });
}
