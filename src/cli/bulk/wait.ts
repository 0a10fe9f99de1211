import type { Batch, Message } from '../../contract/index.js';
import { readError } from './answer.js';
import type { ChunkTable } from './chunk-table.js';
import type { BulkEvent } from './events.js';
import type { Journal } from './journal.js';
import type { Pace } from './pace.js';
import type { Chunk, FrozenPlan } from './plan.js';
import { Progress } from './progress.js';

/** What waiting and reporting need of the client. */
export interface ReadingClient {
  batches: { get(id: string): Promise<Batch> };
  messages: { get(id: string): Promise<Message> };
}

export interface WaitOptions {
  plan: Pick<FrozenPlan, 'meta'>;
  journal: Journal;
  table: ChunkTable;
  client: ReadingClient;
  pace: Pick<Pace, 'take' | 'block'>;
  now(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** How long to wait, in milliseconds. */
  timeout: number;
  stop?: AbortSignal;
}

interface Open {
  chunk: number;
  id: string;
  kind: Chunk['kind'];
  /** When it is worth asking again, and how long after the last time. */
  at: number;
  pause: number;
}

const readers = 10;
const longestPause = 15_000;

/** How waiting ended: all is final, some is not yet, or the service refuses to be asked. */
export type Waited = { final: boolean; refused: { code: string; status: number } | null };

/**
 * Asks for what was accepted until every message is sent or failed: batches, and single emails. A single SMS
 * is with the operator when it is accepted. What is final is recorded, and never asked for again.
 */
export async function* awaitFinal(options: WaitOptions): AsyncGenerator<BulkEvent, Waited> {
  const { journal, table } = options;
  const progress = new Progress(journal, table);
  const open = await openChunks(options);
  const waited = poll(options, open, progress).finally(() => progress.events.close());
  yield* progress.events;
  return waited;
}

/** Accepted chunks that nobody knows the end of. */
async function openChunks({ journal, table, plan }: WaitOptions): Promise<Open[]> {
  const accepted = new Map<number, Open>();
  await journal.replay((entry) => {
    if (entry[0] === 'final') accepted.delete(entry[1]);
    if (entry[0] !== 'accepted') return;
    const [, chunk, , id, , kind] = entry;
    if (kind === 'batch' || plan.meta.channel === 'email') {
      accepted.set(chunk, { chunk, id, kind, at: 0, pause: 500 });
    }
  });
  return [...accepted.values()].filter(({ chunk }) => table.phase(chunk) === 'accepted');
}

async function poll(options: WaitOptions, open: Open[], progress: Progress): Promise<Waited> {
  const { now, sleep, stop, pace } = options;
  const deadline = now() + options.timeout;
  let refused: Waited['refused'] = null;
  let left = open.length;
  const reader = async () => {
    while (refused === null && !stop?.aborted && now() < deadline) {
      const each = open.shift();
      if (each === undefined) {
        // Others may still put theirs back.
        if (left === 0) return;
        await sleep(Math.min(100, deadline - now()), stop);
        continue;
      }
      if (each.at > now()) await sleep(Math.min(each.at, deadline) - now(), stop);
      if (now() >= deadline || !(await pace.take('reading', stop))) return;
      const outcome = await look(options, each, progress);
      if (outcome === 'final') left -= 1;
      else if (outcome === 'later') open.push(each);
      else refused = outcome;
    }
  };
  await Promise.all(Array.from({ length: Math.min(readers, left) }, reader));
  return { final: left === 0, refused };
}

async function look(
  { client, now, pace }: WaitOptions,
  each: Open,
  progress: Progress,
): Promise<'final' | 'later' | NonNullable<Waited['refused']>> {
  each.at = now() + each.pause;
  each.pause = Math.min(each.pause * 1.5, longestPause);
  try {
    const end =
      each.kind === 'batch' ? await endOfBatch(client, each.id) : await endOfMessage(client, each.id);
    if (end === null) return 'later';
    await progress.record(['final', each.chunk, end.sent, end.failed, end.code]);
    progress.emit({ type: 'final', chunk: each.chunk, sent: end.sent, failed: end.failed });
    return 'final';
  } catch (error) {
    const answer = readError(error);
    if (answer.kind !== 'refusal') return 'later';
    if (answer.status !== 429) return { code: answer.code, status: answer.status };
    pace.block('reading', (answer.retryAfter ?? 1) * 1_000);
    return 'later';
  }
}

async function endOfBatch(client: ReadingClient, id: string) {
  const { status, total, sent, failed } = await client.batches.get(id);
  return status === 'completed' || sent + failed >= total ? { sent, failed, code: null } : null;
}

async function endOfMessage(client: ReadingClient, id: string) {
  const { status, error } = await client.messages.get(id);
  if (status === 'queued') return null;
  const failed = status === 'failed';
  return { sent: failed ? 0 : 1, failed: failed ? 1 : 0, code: error?.code ?? null };
}
