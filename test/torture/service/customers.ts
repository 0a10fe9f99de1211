import { setTimeout as sleep } from 'node:timers/promises';
import type { Acknowledgement, Task } from './tasks.js';

export interface Reply {
  status: number;
  body: Record<string, unknown>;
  replayed: boolean;
}

/** Sends a task once; null when no answer of the service came. */
export async function attempt(
  url: string,
  apiKey: string,
  task: Pick<Task, 'path' | 'body'>,
  idempotencyKey: string,
  signal = AbortSignal.timeout(30_000),
): Promise<Reply | null> {
  try {
    const response = await fetch(url + task.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(task.body),
      signal,
    });
    const body = (await response.json()) as Record<string, unknown>;
    const replayed = response.headers.get('idempotency-replayed') === 'true';
    return { status: response.status, body, replayed };
  } catch {
    return null;
  }
}

export const codeOf = ({ body }: Reply): unknown => (body.error as { code?: unknown } | undefined)?.code;

/**
 * Whether a task needs no further try. A message that no operator takes counts towards the cap of its recipient until
 * it is refunded, which a paused process puts off: that refusal is not final.
 */
export function isFinal(reply: Reply, { arrive }: Pick<Task, 'arrive'>): boolean {
  if (reply.status === 502) return codeOf(reply) === 'provider_failed';
  if (reply.status !== 429) return reply.status < 500;
  return codeOf(reply) === 'recipient_rate_limited' && arrive > 0;
}

export interface Customers {
  /** Lets them finish what they have begun and resolves with everything that was acknowledged. */
  finish(): Promise<Acknowledgement[]>;
  /** Lets them go, whatever they are at. */
  dismiss(): void;
}

/**
 * People who send one task after the other, each until it is acknowledged, with the same key at every repeat.
 * With `forgetKeys` a repeat has a new key, which is the control.
 */
export function startCustomers(options: {
  count: number;
  next: () => Task;
  url: () => string;
  apiKey: (project: number) => string;
  forgetKeys?: boolean;
  /** Called with each answer, and when its request began and ended. */
  onReply?: (task: Task, reply: Reply, from: number, to: number) => void;
}): Customers {
  const acknowledged: Acknowledgement[] = [];
  let over = false;
  let dismissed = false;

  async function carryOut(task: Task): Promise<void> {
    for (let repeat = 0; !dismissed; repeat += 1) {
      const key = options.forgetKeys ? `${task.idempotencyKey}-${repeat}` : task.idempotencyKey;
      const from = performance.now();
      const reply = await attempt(options.url(), options.apiKey(task.project), task, key);
      if (reply !== null) options.onReply?.(task, reply, from, performance.now());
      if (reply !== null && isFinal(reply, task)) {
        acknowledged.push({ task, status: reply.status, body: reply.body, at: performance.now() });
        return;
      }
      // Knocking without a pause would cost more than all that is sent.
      await sleep(reply?.status === 429 ? 200 : Math.min(20 * 2 ** repeat, 160));
    }
  }

  async function customer(): Promise<void> {
    while (!over) await carryOut(options.next());
  }
  const all = Promise.all(Array.from({ length: options.count }, customer));
  return {
    dismiss() {
      over = true;
      dismissed = true;
    },
    async finish() {
      over = true;
      await all;
      return acknowledged;
    },
  };
}
