import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { UrtuuError } from '../../../../client/index.js';
import type { AcceptedEntry, Entry } from '../../../bulk/job/journal/entries.js';
import { readJournal } from '../../../bulk/job/journal/journal-reader.js';
import type { Job, JobView } from '../../../bulk/job/open-job.js';
import type { Account } from '../../../bulk/plan/plan.js';
import type { Profile } from '../../../config/profiles.js';
import type { Context } from '../../../context.js';
import { CliError, refusedError, refusedSend } from '../../../errors.js';
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
export const isForeign = async (context: Pick<Context, 'network'>, job: JobView): Promise<boolean> =>
  (await usedBefore(context, job)) === 'never';

/** When the job last used the key in use. */
async function usedBefore(
  { network }: Pick<Context, 'network'>,
  { meta: { account }, state }: JobView,
): Promise<'last' | 'earlier' | 'never'> {
  // A job of an earlier release does not record its key.
  if (account === null) return 'last';
  const hash = await currentHash(network, account);
  if (hash === null) return 'never';
  const known = [account.hash, ...state.accounts].map((each) => isSame(each, hash));
  return known.at(-1) ? 'last' : known.includes(true) ? 'earlier' : 'never';
}

type KeyContext = Pick<Context, 'io' | 'config' | 'network' | 'signal'>;
interface KeyOptions {
  sameProject?: boolean | undefined;
}

/**
 * Whether the key in use finds what the job sent; null if the job used it last. Throws CliError (exit 11) for a key that
 * it never used, without `sameProject`, and for a key that is another project's, or may be once anything was accepted or
 * is in doubt.
 */
export async function checkKey(
  context: KeyContext,
  job: JobView,
  { sameProject }: KeyOptions,
): Promise<boolean | null> {
  const used = await usedBefore(context, job);
  if (used === 'last') return null;
  if (used === 'never' && !sameProject) throw await foreignJob(context, job);
  return findsWhatWasSent(context, job);
}

/** Lets a job go on with the key in use. Throws as `checkKey`. */
export async function admitKey(context: KeyContext, job: Job, options: KeyOptions): Promise<void> {
  const isChecked = await checkKey(context, job, options);
  if (isChecked === null) return;
  const { meta, state, journal } = job;
  const hash = meta.account === null ? null : await currentHash(context.network, meta.account);
  if (hash === null) return;
  const entry: Entry = { type: 'account', hash, isChecked };
  await journal.append(entry);
  state.apply(entry);
}

/**
 * Whether the key in use finds what the job sent with its last key; false if the job has sent nothing. Throws CliError
 * (exit 11) if it does not, and if that cannot be checked: what another project has sent could be sent twice.
 */
async function findsWhatWasSent(
  { io, network, signal }: Pick<Context, 'io' | 'network' | 'signal'>,
  { id, folder, state }: JobView,
): Promise<boolean> {
  const isInDoubt = state.unanswered > 0;
  const { sent, hasAccepted } = await acceptedIn(folder);
  if (sent === null) {
    if (!isInDoubt && !hasAccepted) return false;
    const way = `. If that key is gone, find out who got the message, then remove the job and send to the others: \`urtuu jobs remove ${id} --force\``;
    const because = 'none is known to be accepted with the key it used last';
    throw unchecked(id, isInDoubt, because, way);
  }
  const { batches, messages } = await network.client();
  const read = () => (sent.kind === 'batch' ? batches : messages).get(sent.id, { signal });
  const { value, isForbidden, error } = await io
    .withProgress('Checking the API key', () => readAccount<{ id: unknown }>(read, {}))
    .catch((error) => {
      if (error.code === 'not_found') throw otherProject(id, sent.id);
      throw isInDoubt ? unreadable(id, isInDoubt, error) : error;
    });
  if (isForbidden) throw unchecked(id, isInDoubt, 'this key may only send', ', or a key that can read.');
  if (value?.id !== sent.id) throw unreadable(id, isInDoubt, error);
  return true;
}

/** Any message or batch of the project of the job's last key, and whether there is one of any key. */
async function acceptedIn(folder: string) {
  const found = { sent: null as AcceptedEntry | null, hasAccepted: false };
  await readJournal(folder, {}, (entry) => {
    if (entry.type === 'accepted') {
      found.sent ??= entry;
      found.hasAccepted = true;
    }
    // In journals of earlier releases: what was sent before says nothing about the project of this key.
    if (entry.type === 'account' && !entry.isChecked) found.sent = null;
  });
  return found;
}

/** Exit 11 for an unfinished job that was started with another key; names the profile that has it. */
async function foreignJob({ config }: Pick<Context, 'config'>, { id, meta }: JobView): Promise<CliError> {
  const { account } = meta;
  const hasKey = ({ api_key: key }: Profile) =>
    account !== null && key !== undefined && isSame(account.hash, hashOf(account.salt, key));
  const { profiles } = await config.read();
  const [name] = Object.entries(profiles).find(([, profile]) => hasKey(profile)) ?? [];
  const way = name === undefined ? 'Use the key it was started with' : `Use --profile ${name}`;
  const hint = `${way}. If both keys belong to one project, add --same-project.`;
  return refusedError('other_account', `the job ${id} was started with another API key`, hint, { job: id });
}

const otherProject = (id: string, sent: string) =>
  refusedSend(
    'other_account',
    `this API key belongs to another project: it cannot see ${sent}, which the job ${id} sent`,
    'Use the key that the job used last, or another key of that project.',
    { job: id },
  );

const unchecked = (id: string, isInDoubt: boolean, because: string, way: string) =>
  refusedSend(
    'other_account',
    `the job ${id} has ${isInDoubt ? 'messages in doubt' : 'accepted messages'}, and ${because}, so the project of this API key cannot be checked`,
    `Resume it with the key it used last${way}`,
    { job: id },
  );

function unreadable(id: string, isInDoubt: boolean, cause: unknown): CliError {
  const { code, retryAfter = null } = cause instanceof UrtuuError ? cause : { code: null };
  const isInvalid = code === 'unauthorized';
  return new CliError(
    isInvalid ? code : 'unavailable',
    isInDoubt ? exits.doubt : exits.later,
    `could not check that this API key belongs to the project of the job ${id}${cause instanceof Error ? `: ${cause.message}` : ''}`,
    {
      hint: `Nothing was sent this time. ${isInvalid ? 'Use a valid API key of the project.' : 'Run the command again later.'}`,
      details: { job: id, retryable: !isInvalid, retry_after: retryAfter },
      cause,
    },
  );
}

async function currentHash(network: Network, { salt }: Account): Promise<string | null> {
  const key = await network.apiKey();
  return key === null ? null : hashOf(salt, key);
}

const hashOf = (salt: string, key: string) => createHash('sha256').update(`${salt}\0${key}`).digest('hex');

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
