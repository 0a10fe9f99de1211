import { createHash } from 'node:crypto';
import type { FrozenPlan, PlannedRequest, PlannedRow } from '../../../src/cli/bulk/plan/plan.js';

/** A plan in memory: each entry is a text and who gets it; one recipient makes a single send. */
export function memoryPlan(messages: readonly { to: string[]; text: string }[]): FrozenPlan {
  let line = 2;
  const requests = messages.map(({ to, text }, number): PlannedRequest => {
    const kind = to.length === 1 ? 'single' : 'batch';
    const body = JSON.stringify({ to: kind === 'single' ? to[0] : to, text });
    return { number, kind, to, lines: to.map(() => line++), body, credits: to.length * 10 };
  });
  const recipients = requests.reduce((sum, { to }) => sum + to.length, 0);
  const digest = createHash('sha256');
  for (const { body } of requests) digest.update(`${body}\n`);
  return {
    folder: '/nowhere',
    meta: {
      version: 2,
      channel: 'sms',
      baseUrl: 'http://127.0.0.1:7788/v1',
      digest: digest.digest('hex'),
      source: 'list.csv',
      columns: ['phone', 'name'],
      created_at: '2026-01-01T00:00:00.000Z',
      run: null,
      account: null,
      recipients,
      merged: 0,
      rejected: 0,
      repaired: 0,
      requests: requests.length,
      batches: requests.filter(({ kind }) => kind === 'batch').length,
      singles: requests.filter(({ kind }) => kind === 'single').length,
      cost: [{ kind: 'latin', recipients, parts: recipients, credits: recipients * 10 }],
      credits: recipients * 10,
    },
    async *requests(first = 0) {
      yield* requests.slice(first);
    },
    async *rows(): AsyncGenerator<PlannedRow> {
      for (const { number, to, lines } of requests) {
        for (const [index, recipient] of to.entries()) {
          const place = { request: number, index };
          yield { line: lines[index] ?? 0, values: [recipient, `Bat ${index}`], place, error: null };
        }
      }
    },
  };
}

export function numbers(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => String(99_000_000 + from + index));
}
