import { type MessagePage, messagePage } from '../../../contract/index.js';
import { readError } from './answer.js';
import { backoff } from './attempt.js';
import type { RunOptions } from './run.js';
import { recipientForm } from './transitions.js';

type World = Pick<RunOptions, 'listing' | 'pace' | 'now' | 'sleep' | 'random' | 'stop'>;

/** Who is in a batch; or that its service does not tell, or not now. */
export type Members = ReadonlySet<string> | 'not listed' | 'not now';

/** Reads who is in a batch of so many recipients, for as long as `until`, in milliseconds by `now`. */
export async function membersOf(id: string, total: number, until: number, world: World): Promise<Members> {
  const members = new Set<string>();
  let listed = 0;
  let after: string | null = null;
  do {
    const page = await readPage(id, after, until, world);
    if (typeof page === 'string') return page;
    // A pruned message has lost its recipient: who is not named may be in it all the same.
    if (page.data.some(({ to }) => to === '')) return 'not listed';
    for (const { to } of page.data) members.add(recipientForm(to));
    listed += page.data.length;
    after = page.next;
  } while (after !== null && listed <= total);
  // A list that is not of the whole batch tells of nobody that they are not in it.
  return listed === total ? members : 'not listed';
}

async function readPage(
  id: string,
  after: string | null,
  until: number,
  { listing, pace, now, sleep, random, stop }: World,
): Promise<MessagePage | Exclude<Members, ReadonlySet<string>>> {
  for (let tries = 1; listing !== undefined; tries += 1) {
    if (!(await pace.take('reading', stop, Math.max(0, until - now())))) return 'not now';
    try {
      const from = after === null ? {} : { after };
      return await listing.batches.messages(id, { limit: messagePage.max, ...from });
    } catch (error) {
      const answer = readError(error);
      if (answer.kind === 'refusal' && (answer.status === 404 || answer.status === 405)) return 'not listed';
      if (answer.kind === 'refusal' && answer.status !== 429) return 'not now';
      const said = answer.kind === 'refusal' ? (answer.retryAfter ?? null) : null;
      const wait = said === null ? backoff(tries, random()) : said * 1_000;
      if (now() + wait > until) return 'not now';
      await sleep(wait, stop);
    }
  }
  return 'not listed';
}
