import type { Pricing } from '../../../../contract/index.js';
import { readError } from '../../../bulk/send/answer.js';
import type { Context } from '../../../context.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import type { Findings } from './preflight.js';

/** A price list or balance; null if the service does not answer, or refuses, with the last `error`. */
export interface AccountRead<Value> {
  value: Value | null;
  /** Outside the key's scope: it may only send. */
  isForbidden: boolean;
  error: unknown;
}

/** Throws for an invalid API key or base URL, and CliError (exit 4) for a key that cannot read what `--wait` needs. */
export async function readAccount<Value>(
  read: () => Promise<Value>,
  { wait }: { wait?: boolean | undefined },
): Promise<AccountRead<Value>> {
  let last: unknown = null;
  for (let tries = 1; tries <= 3; tries += 1) {
    try {
      return { value: await read(), isForbidden: false, error: null };
    } catch (error) {
      last = error;
      const answer = readError(error);
      if (answer.kind !== 'refusal') continue;
      // Every service has a balance and prices, so a 404 is about the base URL.
      if (answer.status === 401 || answer.status === 404) throw error;
      const isForbidden = answer.status === 403;
      if (isForbidden && wait) throw cannotWait();
      return { value: null, isForbidden, error };
    }
  }
  return { value: null, isForbidden: false, error: last };
}

/** What the account has, beside the price list that was read before. */
export async function readPrices(
  { network }: Pick<Context, 'network'>,
  pricing: Pricing | null,
  options: { wait?: boolean | undefined },
): Promise<Findings['prices']> {
  const client = await network.client();
  const { value, isForbidden } = await readAccount(() => client.balance.get(), options);
  return { known: pricing !== null, balance: value?.balance ?? null, isForbidden };
}

const cannotWait = () =>
  new CliError('forbidden', exits.key, 'this key cannot read, so --wait would never see the outcome', {
    hint: 'Nothing was sent this time. Use a key with both scopes, or leave --wait out.',
  });
