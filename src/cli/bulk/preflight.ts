import { requestRates } from '../../contract/index.js';
import { field, type View } from '../output/view.js';
import type { PlanMeta } from './plan.js';

/** What a job would do, before it does anything. */
export interface Preflight {
  job: string;
  channel: string;
  recipients: number;
  merged: number;
  rejected: number;
  repaired: number;
  requests: number;
  batches: number;
  singles: number;
  cost: PlanMeta['cost'];
  /** Credits of the whole job; null when the service does not say its prices. */
  credits: number | null;
  balance: number | null;
  /** Expected time at the allowed rate. */
  seconds: number;
}

export function preflightOf(
  job: string,
  meta: PlanMeta,
  money: { priced: boolean; balance: number | null },
): Preflight {
  const { channel, recipients, merged, rejected, repaired, chunks, batches, singles, cost } = meta;
  const { burst, perSecond } = requestRates.sending;
  return {
    job,
    channel,
    recipients,
    merged,
    rejected,
    repaired,
    requests: chunks,
    batches,
    singles,
    cost,
    credits: money.priced ? meta.credits : null,
    balance: money.balance,
    seconds: Math.ceil(Math.max(0, chunks - burst) / perSecond),
  };
}

/** The lines that are shown before anything is sent. */
export function preflightLines(plan: Preflight): string[] {
  const { recipients, merged, rejected, repaired, requests, batches, singles, credits, balance } = plan;
  return [
    `Job ${plan.job}: ${recipients} recipients (${plan.channel}), ${merged} merged, ${rejected} rejected, ${repaired} repaired`,
    ...plan.cost.map(costLine),
    `Requests: ${requests} (${batches} batches, ${singles} single), about ${duration(plan.seconds)} at the allowed rate`,
    `Credits: ${credits ?? 'unknown'} of ${balance ?? 'an unknown balance'}${shortage(plan)}`,
  ];
}

function costLine({ kind, recipients, parts, credits }: PlanMeta['cost'][number]): string {
  const size = kind === 'email' ? '' : `, ${parts} parts`;
  return `  ${kind}: ${recipients} recipients${size}, ${credits} credits`;
}

export function shortage({ credits, balance }: Preflight): string {
  if (credits === null || balance === null || credits <= balance) return '';
  return `: ${credits - balance} are missing, the job will stop there`;
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

export const preflightView: View<Preflight> = {
  columns: [
    field('job'),
    field('channel'),
    field('recipients', { kind: 'number' }),
    field('merged', { kind: 'number' }),
    field('rejected', { kind: 'number' }),
    field('repaired', { kind: 'number' }),
    field('requests', { kind: 'number' }),
    field('batches', { kind: 'number' }),
    field('singles', { kind: 'number' }),
    { name: 'parts', kind: 'number', value: ({ cost }) => cost.reduce((sum, { parts }) => sum + parts, 0) },
    field('credits', { kind: 'number' }),
    field('balance', { kind: 'number' }),
    field('seconds', { kind: 'number' }),
  ],
  record: (plan) => plan,
};
