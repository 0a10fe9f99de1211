// One measured piece of work in a process of its own; prints { cpu, rss } as JSON.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse';
import { buildPlan } from '../../src/cli/bulk/plan/build-plan.js';

const [work = '', file = '', folder = '', text = ''] = process.argv.slice(2);

/** What the plan is measured against: csv-parse alone, arrays and 'data' events. */
async function parseOnly(): Promise<number> {
  let rows = 0;
  const parser = createReadStream(file).pipe(parse());
  parser.on('data', () => {
    rows += 1;
  });
  await new Promise((resolve, reject) => parser.on('end', resolve).on('error', reject));
  return rows - 1;
}

async function planAll(): Promise<number> {
  const input = { bytes: createReadStream(file), source: file };
  const { plan } = await buildPlan(input, {
    channel: work === 'email' ? 'email' : 'sms',
    baseUrl: 'http://127.0.0.1:7788/v1',
    templates: work === 'email' ? { text, subject: 'Hello' } : { text },
    folder,
    createdAt: '2025-01-01T00:00:00.000Z',
    pricing: null,
  });
  return plan?.meta.recipients ?? 0;
}

const rows = work === 'parse' ? await parseOnly() : await planAll();
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
/** KiB of this program alone: on Linux `maxRSS` begins with what its parent takes. */
const peak = existsSync('/proc/self/status')
  ? Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
  : maxRSS;
process.stdout.write(JSON.stringify({ rows, cpu: (userCPUTime + systemCPUTime) / 1_000, rss: peak / 1_024 }));
