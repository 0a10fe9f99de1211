import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AcceptedEntry, Entry } from '../../../bulk/job/journal/entries.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { Account } from '../../../bulk/plan/plan.js';
import type { Profile } from '../../../config/profiles.js';
import type { Context } from '../../../context.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { readAccount } from './read-account.js';

type Network = Context['network'];

/** Identifies the API key in use; null for the embedded service, which needs none. */
export async function currentAccount(network: Network): Promise<Account | null> {
  const key = await network.apiKey();
  if (key === null) return null;
  const salt = randomBytes(16).toString('hex');
  return { salt, hash: hashOf(salt, key) };
}

/** Whether the key in use may belong to a project other than the job's, where its idempotency keys mean nothing. */
export async function isForeign(
  { network }: Pick<Context, 'network'>,
  { plan, state }: Job,
): Promise<boolean> {
  const { account } = plan.meta;
  // A job of an earlier release does not record its key.
  if (account === null) return false;
  const hash = await currentHash(network, account);
  return hash === null || ![account.hash, ...state.accounts].some((known) => isSame(known, hash));
}

/**
 * Throws CliError (exit 11) if the key in use cannot find what the job has sent, which is another project's then. Where
 * that cannot be checked, it is refused if it could send twice what is in doubt.
 */
export async function refuseOtherProject(
  { network, signal }: Pick<Context, 'network' | 'signal'>,
  { id, journal, state }: Job,
): Promise<void> {
  const isInDoubt = state.counts.in_doubt > 0;
  const sent = await firstAccepted(journal);
  if (sent === null) {
    const way = '. Without that key, look for its messages, and send to the others under another --job name.';
    if (isInDoubt) throw unchecked(id, 'nothing of it is known to be accepted', way);
    return;
  }
  const { batches, messages } = await network.client();
  const read = () => (sent.kind === 'batch' ? batches : messages).get(sent.id, { signal });
  const { value, isForbidden } = await readAccount<unknown>(read, {}).catch((error) => {
    throw error.code === 'not_found' ? otherProject(id, sent.id) : error;
  });
  if (isForbidden && isInDoubt) throw unchecked(id, 'this key may only send', ', or a key that can read.');
  if (value === null && !isForbidden) throw unreadable(id, isInDoubt);
}

async function firstAccepted(journal: Job['journal']): Promise<AcceptedEntry | null> {
  let first: AcceptedEntry | null = null;
  await journal.replay((entry) => {
    if (entry.type === 'accepted') first ??= entry;
  });
  return first;
}

/** Records that the key in use belongs to the job's project, for `--same-project`. */
export async function adoptAccount(
  { network }: Pick<Context, 'network'>,
  { plan, state, journal }: Job,
): Promise<void> {
  const { account } = plan.meta;
  const hash = account === null ? null : await currentHash(network, account);
  if (hash === null) return;
  const entry: Entry = { type: 'account', hash };
  await journal.append(entry);
  state.apply(entry);
}

/** Exit 11 for an unfinished job that was started with another key; names the profile that has it. */
export async function foreignJob({ config }: Pick<Context, 'config'>, { id, plan }: Job): Promise<CliError> {
  const { account } = plan.meta;
  const hasKey = ({ api_key: key }: Profile) =>
    account !== null && key !== undefined && isSame(account.hash, hashOf(account.salt, key));
  const { profiles } = await config.read();
  const [name] = Object.entries(profiles).find(([, profile]) => hasKey(profile)) ?? [];
  const way = name === undefined ? 'Use the --profile that it was started with' : `Use --profile ${name}`;
  return new CliError('other_account', exits.refused, `the job ${id} was started with another API key`, {
    hint: `${way}. If both keys are of one project, add --same-project.`,
    details: { job: id },
  });
}

const otherProject = (id: string, sent: string) =>
  new CliError(
    'other_account',
    exits.refused,
    `this API key is not of the project of the job ${id}: it does not know ${sent}, which the job has sent`,
    {
      hint: 'Nothing was sent this time. Use a key of the project that the job was started in.',
      details: { job: id },
    },
  );

const unchecked = (id: string, because: string, way: string) =>
  new CliError(
    'other_account',
    exits.refused,
    `the job ${id} has messages in doubt, and ${because}, so the project of this API key cannot be checked`,
    {
      hint: `Nothing was sent this time. Resume it with the key that started it${way}`,
      details: { job: id },
    },
  );

const unreadable = (id: string, isInDoubt: boolean) =>
  new CliError(
    'unavailable',
    isInDoubt ? exits.doubt : exits.later,
    `the service does not say whether this API key is of the project of the job ${id}`,
    {
      hint: 'Nothing was sent this time. Run the command again later.',
      details: { job: id, retryable: true },
    },
  );

async function currentHash(network: Network, { salt }: Account): Promise<string | null> {
  const key = await network.apiKey();
  return key === null ? null : hashOf(salt, key);
}

const hashOf = (salt: string, key: string) => createHash('sha256').update(`${salt}\0${key}`).digest('hex');

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
