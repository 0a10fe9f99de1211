import { buildPlan, type PlanOptions, type PlanOutcome } from '../../../src/cli/bulk/plan/build-plan.js';
import { nodePlanDisk, type PlanDisk } from '../../../src/cli/bulk/plan/files/plan-disk.js';
import type { FrozenPlan, PlannedRequest, PlannedRow } from '../../../src/cli/bulk/plan/plan.js';

/** The disk without waiting for it; what is durable is tested where it matters. */
export const quickDisk: PlanDisk = { ...nodePlanDisk, sync: () => undefined };

export type TestPlan = Partial<Omit<PlanOptions, 'templates'>> & {
  text?: string | undefined;
  subject?: string | undefined;
  html?: string | undefined;
  fromName?: string | undefined;
  replyTo?: string | undefined;
  source?: string;
  /** Bytes in a block of the input; all of them when absent. */
  blockBytes?: number;
};

async function* blocksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Plans a CSV text (or its bytes) in a folder that is not there yet. */
export function planIn(folder: string, csv: string | Uint8Array, test: TestPlan = {}): Promise<PlanOutcome> {
  const bytes = typeof csv === 'string' ? Buffer.from(csv) : csv;
  const { text, subject, html, fromName, replyTo, source = 'list.csv', blockBytes, ...options } = test;
  return buildPlan(
    { bytes: blocksOf(bytes, blockBytes ?? Math.max(1, bytes.length)), source },
    {
      channel: 'sms',
      baseUrl: 'http://127.0.0.1:7788/v1',
      templates: { text: 'text' in test ? text : 'Hello', subject, html, fromName, replyTo },
      createdAt: '2025-01-01T00:00:00.000Z',
      pricing: null,
      disk: quickDisk,
      ...options,
      folder,
    },
  );
}

export function planned(outcome: PlanOutcome): FrozenPlan {
  if (outcome.plan === null) throw new Error(`nothing was planned: ${outcome.rejects.first.join('; ')}`);
  return outcome.plan;
}

export async function requestsOf(outcome: PlanOutcome): Promise<PlannedRequest[]> {
  return collect(planned(outcome).requests());
}

export async function rowsOf(outcome: PlanOutcome): Promise<PlannedRow[]> {
  return collect(planned(outcome).rows());
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
