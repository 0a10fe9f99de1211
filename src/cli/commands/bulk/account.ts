import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Job } from '../../bulk/job/open-job.js';
import type { Account } from '../../bulk/plan/plan.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';

/** What a job keeps of the API key it is started with; null for the embedded service, which needs none. */
export async function accountNow(context: Context): Promise<Account | null> {
  const key = await context.network.apiKey();
  if (key === null) return null;
  const salt = randomBytes(16).toString('hex');
  return { salt, hash: hashOf(salt, key) };
}

/** Whether the job may be of another project than the key in use: what is in doubt there would be sent anew. */
export async function isForeign(context: Context, { plan, table }: Job): Promise<boolean> {
  const { account } = plan.meta;
  // Jobs of earlier releases do not say which key they began with.
  if (account === null) return false;
  const hash = await hashNow(context, account);
  return hash === null || ![account.hash, ...table.accounts].some((known) => isSame(known, hash));
}

/** Takes the person's word for it that the key in use is of the job's project. */
export async function adoptAccount(context: Context, { plan, table, journal }: Job): Promise<void> {
  const { account } = plan.meta;
  const hash = account === null ? null : await hashNow(context, account);
  if (hash === null) return;
  await journal.append(['account', hash]);
  table.apply(['account', hash]);
}

/** Exit 11 for a job that has something left to send, and was started with another key. */
export function foreignJob(id: string): CliError {
  return new CliError('other_account', exits.refused, `the job ${id} was started with another API key`, {
    hint: 'Choose the --profile that it was started with. If both keys are of one project, add --same-project.',
    details: { job: id },
  });
}

async function hashNow(context: Context, { salt }: Account): Promise<string | null> {
  const key = await context.network.apiKey();
  return key === null ? null : hashOf(salt, key);
}

const hashOf = (salt: string, key: string) => createHash('sha256').update(`${salt}\0${key}`).digest('hex');

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
