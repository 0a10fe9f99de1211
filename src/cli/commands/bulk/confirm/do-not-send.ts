import type { Urtuu } from '../../../../client/index.js';
import { maxBatchRecipients } from '../../../../contract/index.js';
import type { FrozenPlan, PlannedRequest } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { type Reply, readOnce, timeUp, type Unread } from '../../../reader/reader.js';

/** How many recipients of a plan are on the service's do-not-send list; `unknown`: why that is not known. */
export type Suppressed = { recipients: number; of: number; credits: number } | { unknown: string };

/** The messages to one recipient, and their price. */
interface Share {
  messages: number;
  credits: number;
}
/** The recipients of one question. */
type Piece = Map<string, Share>;

/** About more, only whether there is such a list is asked. */
const mostAsked = 50_000;
const mostAtOnce = 4;
/** The answer is a remark, and no reason to wait; in milliseconds. */
const longest = 3_000;
/** The service has no such list, or does not show it to this key. */
const silent: ReadonlySet<number | null> = new Set([401, 403, 404, 405]);

/** Asks about the requests of a plan that are `wanted`; null if there is nothing to say. */
export async function askDoNotSend(
  { io, network, clock }: Pick<Context, 'io' | 'network' | 'clock'>,
  plan: FrozenPlan,
  wanted: (request: PlannedRequest) => boolean = () => true,
): Promise<Suppressed | null> {
  const isTooMany = plan.meta.recipients > mostAsked;
  const { pieces, of } = await piecesOf(plan, wanted, isTooMany ? 1 : Number.POSITIVE_INFINITY);
  const { client, limiter } = await network.unlimitedClient();
  const over = new AbortController();
  const cancel = clock.after(longest, () => over.abort());
  const found = { recipients: 0, of, credits: 0 };
  let failure: Unread | null = null;
  const ask = async (piece: Piece): Promise<void> => {
    const to = [...piece.keys()];
    const isInTime = await limiter.take('sending', over.signal);
    const reply: Reply<string[]> = isInTime ? await readOnce(() => check(client, to, over.signal)) : timeUp;
    if (!('value' in reply)) failure ??= over.signal.aborted ? timeUp : reply;
    else
      for (const each of reply.value) {
        found.recipients += piece.get(each)?.messages ?? 0;
        found.credits += piece.get(each)?.credits ?? 0;
      }
  };
  const askAll = async () => {
    for (let piece = pieces.shift(); piece !== undefined && failure === null; piece = pieces.shift())
      await ask(piece);
  };
  const work = async () => {
    const first = pieces.shift();
    if (first !== undefined) await ask(first);
    await Promise.all(Array.from({ length: mostAtOnce }, askAll));
  };
  await io.withProgress('Reading the do-not-send list', work).finally(cancel);
  const { status, code } = (failure ?? { status: null, code: '' }) as Unread;
  if (of === 0 || silent.has(status)) return null;
  if (code !== '') return { unknown: code };
  return isTooMany ? { unknown: 'too_many' } : { ...found, credits: Math.round(found.credits) };
}

/** Those on the list, as they were written. */
async function check({ suppressions }: Urtuu, to: string[], signal: AbortSignal): Promise<string[]> {
  const { data } = await suppressions.check({ to }, { signal, maxRetries: 0 });
  return data.map((each) => each.to);
}

/** The recipients in so many questions at most, and how many messages they get. */
async function piecesOf(
  plan: FrozenPlan,
  wanted: (request: PlannedRequest) => boolean,
  most: number,
): Promise<{ pieces: Piece[]; of: number }> {
  const pieces: Piece[] = [];
  let of = 0;
  for await (const request of plan.requests()) {
    if (!wanted(request)) continue;
    of += request.to.length;
    for (const to of request.to) {
      let piece = pieces.at(-1);
      if (piece === undefined || piece.size === maxBatchRecipients) {
        if (pieces.length === most) return { pieces, of };
        piece = new Map();
        pieces.push(piece);
      }
      const { messages, credits } = piece.get(to) ?? { messages: 0, credits: 0 };
      piece.set(to, { messages: messages + 1, credits: credits + request.credits / request.to.length });
    }
  }
  return { pieces, of };
}
