import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { buildPlan, type SentBefore } from '../../src/cli/bulk/plan/build-plan.js';
import type { FrozenPlan } from '../../src/cli/bulk/plan/plan.js';

/** What a work program is called with. */
export const [work = '', file = '', folder = '', text = ''] = process.argv.slice(2);

export const baseUrl = 'http://127.0.0.1:7788/v1';

export async function planAll(sentBefore: SentBefore | null = null): Promise<FrozenPlan | null> {
  const input = { bytes: createReadStream(file), source: file };
  const { plan } = await buildPlan(input, {
    channel: work === 'email' ? 'email' : 'sms',
    baseUrl,
    templates: work === 'email' ? { text, subject: 'Hello' } : { text },
    folder,
    createdAt: '2025-01-01T00:00:00.000Z',
    pricing: null,
    sentBefore,
  });
  return plan;
}

/** Prints { rows, cpu, rss } of this process as JSON. */
export function printMeasured(rows: number): void {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  /** KiB of this program alone: on Linux `maxRSS` begins with what its parent takes. */
  const peak = existsSync('/proc/self/status')
    ? Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
    : maxRSS;
  process.stdout.write(
    JSON.stringify({ rows, cpu: (userCPUTime + systemCPUTime) / 1_000, rss: peak / 1_024 }),
  );
}
