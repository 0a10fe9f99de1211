import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxBatchRecipients, requestRates } from '../../src/contract/index.js';
import { median, type Row } from './pairs.js';
import { post, type Service } from './service-http.js';
import { startService } from './service-process.js';

const { perSecond, burst } = requestRates.sending;
const seconds = 10;
const singlesASecond = 50;
const text = 'Сайн байна уу';
let recipient = 99_100_000;

const single = () => ({ to: `${recipient++}`, text });
const batch = () => ({ to: Array.from({ length: maxBatchRecipients }, () => `${recipient++}`), text });

/** As fast as a project may send: its burst at once, then evenly. */
async function postBatches(service: Service, agent: Agent): Promise<void> {
  const began = performance.now();
  const posted: Promise<void>[] = [];
  while (posted.length < burst + perSecond * seconds) {
    const due = ((posted.length + 1 - burst) / perSecond) * 1_000;
    await sleep(Math.max(0, began + due - performance.now()));
    posted.push(post(service, '/sms/bulk', agent, batch()));
  }
  await Promise.all(posted);
}

/** The 99th percentile of the milliseconds that a single SMS waits. */
async function waitOfSingles(service: Service, agent: Agent): Promise<number> {
  const began = performance.now();
  const waits = Array.from({ length: seconds * singlesASecond }, async (_, index) => {
    await sleep(Math.max(0, began + (index * 1_000) / singlesASecond - performance.now()));
    const asked = performance.now();
    await post(service, '/sms', agent, single());
    return performance.now() - asked;
  });
  const sorted = (await Promise.all(waits)).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

/** A single SMS while batches of 1,000 arrive, against one alone. */
export async function beside(rounds = 3): Promise<Row[]> {
  const alone: number[] = [];
  const among: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await using service = await startService('off');
    const agent = new Agent({ keepAlive: true });
    alone.push(await waitOfSingles(service, agent));
    const [wait] = await Promise.all([waitOfSingles(service, agent), postBatches(service, agent)]);
    among.push(wait);
    agent.destroy();
  }
  const a = median(among);
  const b = median(alone);
  return [
    {
      what: 'service: single SMS while batches of 1,000 arrive, 99th percentile',
      against: `the same alone; ${burst} batches at once, then ${perSecond} a second`,
      goal: '25 ms',
      measured: `${a.toFixed(0)} ms (alone ${b.toFixed(0)} ms)`,
      met: a <= 25,
    },
  ];
}
