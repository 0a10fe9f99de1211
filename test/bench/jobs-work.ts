// A list beside jobs, or the report of one, in a process of its own.
import { appendFileSync, cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobState } from '../../src/cli/bulk/job/job-state.js';
import { checkedLine } from '../../src/cli/bulk/job/journal/checked-line.js';
import { OtherJobs } from '../../src/cli/bulk/job/other-jobs.js';
import { PairSet } from '../../src/cli/bulk/plan/pair-set.js';
import type { FrozenPlan } from '../../src/cli/bulk/plan/plan.js';
import { ReceiptStore } from '../../src/cli/bulk/results/receipt-store.js';
import { Receipts } from '../../src/cli/bulk/results/receipts.js';
import { reportBlocks } from '../../src/cli/bulk/results/report.js';
import { baseUrl, folder, planAll, printMeasured, work } from './plan-list.js';

/** The report of a job of single sends whose outcomes are stored. */
async function report(plan: FrozenPlan): Promise<number> {
  const state = new JobState(plan.meta);
  const { requests, digest } = plan.meta;
  const idOf = (request: number) => `0190b5a0-0000-7000-8000-${String(request).padStart(12, '0')}`;
  let lines = checkedLine(['receipts', 1, 'july', digest]);
  const accepted = { type: 'accepted', revision: 0, credits: 10, kind: 'single', replayOf: null } as const;
  for (let request = 0; request < requests; request += 1) {
    state.apply({ type: 'send', request, revision: 0, recipients: 1 });
    state.apply({ ...accepted, request, id: idOf(request), acceptedAt: 1 });
    lines += checkedLine([request, idOf(request), [[0, idOf(request), 'sent', '', 10, 'delivered']]]);
    if (request % 1_000 > 0 && request < requests - 1) continue;
    appendFileSync(join(folder, 'receipts'), lines);
    lines = '';
  }
  const store = await ReceiptStore.open(folder, { id: 'july', digest });
  const receipts = await Receipts.gather({ plan, state, messages: null, store });
  await store?.close();
  let delivered = 0;
  for await (const block of reportBlocks({ id: 'july', plan }, receipts))
    delivered += block.split(',delivered,').length - 1;
  return delivered;
}

/** Makes the plan, and moves it to the jobs of a machine as seven jobs that have sent everything. */
async function sentJobs(): Promise<number> {
  const jobs = join(folder, '../state/jobs');
  mkdirSync(jobs, { recursive: true });
  const rows = (await planAll())?.meta.recipients ?? 0;
  const requests = readFileSync(join(folder, 'chunks')).length / 24;
  let journal = '';
  for (let request = 0; request < requests; request += 1) {
    const recipients = Math.min(1_000, rows - request * 1_000);
    journal += checkedLine([['send', request, 0, recipients]]);
    journal += checkedLine([['accepted', request, 0, `b-${request}`, 1, 'batch', null, Date.now()]]);
  }
  writeFileSync(join(folder, 'journal'), journal);
  for (let job = 1; job < 7; job += 1) cpSync(folder, join(jobs, `job-${job}`), { recursive: true });
  renameSync(folder, join(jobs, 'job-0'));
  return rows;
}

/** Plans the list beside those jobs, which have sent it to everybody. */
async function planBeside(): Promise<number> {
  const others = new OtherJobs({
    stateDirectory: join(folder, '../state'),
    channel: 'sms',
    baseUrl,
    isOther: () => true,
    since: 0,
    openOutcomes: (folder, job) => ReceiptStore.open(folder, job, { isShared: true }),
    onUnreadable(id, error) {
      throw new Error(id, { cause: error });
    },
  });
  const pairs = new PairSet();
  await planAll({ pairs, skip: false, mark: () => others.mark(pairs) });
  return pairs.counts().sent;
}

async function rowsOf(): Promise<number> {
  if (work === 'jobs') return sentJobs();
  if (work === 'beside') return planBeside();
  const plan = await planAll();
  return plan === null ? 0 : report(plan);
}

printMeasured(await rowsOf());
