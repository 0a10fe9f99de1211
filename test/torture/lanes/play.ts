import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/service/clock.js';
import { type Core, type CoreDoubles, openCore } from '../../../src/service/core.js';
import type { ServiceOptions } from '../../../src/service/index.js';
import { dataAt } from '../service/data.js';
import { badDomain, mailRecipient, smsRecipient, type Trouble, type TroubledPeer } from './peers.js';

/** Milliseconds that the trouble lasts, and between sends of others. */
const troubleMs = 4_000;
const sendEvery = 500;
/** Milliseconds in which everything that was waited for has its end. */
const longestEnd = 30_000;
/** All that was put off is due by then, and nothing has waited for its bound. */
const laterMs = 2 * 3_600_000;
/** Of the sender with the trouble. */
const batchSize = 60;

export interface LaneFindings {
  /** Messages of others that waited too long, and how long the worst one did, in milliseconds. */
  late: number;
  worst: number;
  /** The log does not say who and why, or names somebody else. */
  log: string[];
  lost: number;
  twice: number;
  /** Ended otherwise than the carrier knows, or than its caller was told. */
  untrue: number;
  credits: number;
}

interface Project {
  id: string;
  opening: number;
}

interface Sent {
  to: string;
  at: number;
}

/**
 * A sender with a trouble, and others that send all the while, over two instances. Afterwards everything goes out and is
 * compared with what the carrier took.
 */
export async function playLane(
  data: string,
  trouble: Trouble,
  peer: TroubledPeer,
  { patience, doubles }: { patience: number; doubles: CoreDoubles },
): Promise<LaneFindings> {
  const folder = await mkdtemp(join(tmpdir(), 'urtuu-lanes-'));
  const file = join(folder, 'service.json');
  writeFileSync(file, JSON.stringify(await peer.listen()));
  const log: string[] = [];
  const options: ServiceOptions = {
    ...dataAt(data),
    configuration: { file, environment: { PASSWORD: 'secret' } },
    rates: 'off',
    report: ({ code, stack }) =>
      void (code === 'LaneWarning' && log.push(stack.replace('LaneWarning: ', ''))),
  };
  const cores: Core[] = [];
  try {
    const one = await openCore(options, doubles);
    cores.push(one);
    const two = await openCore(options, doubles);
    cores.push(two);
    const projects = await openProjects(one);
    const others = await sendAll([one, two], projects, peer, trouble, patience);
    const waits = others.map(({ to, at }) => (peer.taken.get(to)?.[0] ?? Number.POSITIVE_INFINITY) - at);
    for (const core of cores.splice(0)) await core.close();
    const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
    const later = await openCore({ ...options, clock });
    cores.push(later);
    return {
      late: waits.filter((wait) => wait > patience).length,
      worst: Math.max(0, ...waits),
      log: problemsOf(
        log,
        projects.map(({ id }) => id),
        peer.lane,
        trouble,
      ),
      ...(await judge(later, projects, peer)),
    };
  } finally {
    for (const core of cores) await core.close();
    await peer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The one with the trouble, one that sends batches, one that sends single messages, one that begins when it is over. */
async function openProjects({ administration }: Core): Promise<Project[]> {
  const projects: Project[] = [];
  for (const domain of [badDomain, null, null, 'new.mn']) {
    const { id } = await administration.createProject(`project ${projects.length}`);
    const project = await administration.project(id);
    if (project === null) throw new Error('the project is gone');
    // Of mails the domain is the sender.
    if (domain !== null) await project.settings.update({ own_domain: { domain } });
    projects.push({ id, opening: await project.credit(1_000_000) });
  }
  return projects;
}

/** Messages that must not wait for the trouble, `patience` milliseconds each. */
async function sendAll(
  [one, two]: readonly [Core, Core],
  projects: readonly Project[],
  peer: TroubledPeer,
  trouble: Trouble,
  patience: number,
): Promise<Sent[]> {
  const isEmail = peer.lane === 'email';
  const recipient = isEmail ? mailRecipient : smsRecipient;
  const mail = { subject: 'News', text: 'Hello' };
  const callOf = <Params>(project: number, params: Params) => ({
    caller: { projectId: projects[project]?.id ?? '', keyId: 'torture' },
    params,
    idempotencyKey: null,
  });
  const counts = projects.map(() => 0);
  const next = (project: number) => {
    const index = counts[project] ?? 0;
    counts[project] = index + 1;
    return recipient(project, index);
  };
  async function batch({ operations }: Core, project: number, count: number): Promise<Sent[]> {
    const at = performance.now();
    const to = Array.from({ length: count }, () => next(project));
    await (isEmail
      ? operations.sendEmailBulk(callOf(project, { to, ...mail }))
      : operations.sendSmsBulk(callOf(project, { to, text: mail.text })));
    return to.map((one) => ({ to: one, at }));
  }
  const areTaken = async (sent: readonly Sent[]) => {
    const end = performance.now() + patience;
    while (performance.now() < end && !sent.every(({ to }) => peer.taken.has(to))) await sleep(10);
  };
  const singles: Promise<unknown>[] = [];
  function single({ operations }: Core, project: number): Sent {
    const at = performance.now();
    const to = next(project);
    singles.push(
      isEmail
        ? operations.sendEmail(callOf(project, { to, ...mail }))
        : operations.sendSms(callOf(project, { to, text: mail.text })),
    );
    return { to, at };
  }
  const mine = [...(await batch(one, 0, batchSize)), ...(await batch(two, 0, 10))];
  const others = trouble.whom === 'one recipient' ? mine.slice(1) : [];
  const until = performance.now() + troubleMs;
  while (performance.now() < until) {
    const sent = [...(await batch(one, 1, 5)), single(two, 2)];
    if (trouble.whom !== 'everybody') others.push(...sent);
    await sleep(sendEvery);
  }
  await areTaken(others);
  peer.isTroubled = false;
  const late = [...(await batch(two, 3, 3)), single(one, 3)];
  // Where everybody was put off, nobody else has waited.
  if (trouble.whom !== 'everybody') others.push(...late);
  await areTaken(late);
  await Promise.all(singles);
  return others;
}

/** What is wrong with what the log says. */
function problemsOf(
  log: readonly string[],
  [mine = '', ...others]: readonly string[],
  lane: string,
  { whom, code, isOfAccount, isOfRate, isOfRecipient }: Trouble,
): string[] {
  const isOf = (line: string, subject: string) => line.startsWith(subject) && line.includes(code);
  const ofLane = log.some((line) => isOf(line, `lane ${lane}:`));
  const ofProject = log.some((line) => isOf(line, `lane ${lane}, project ${mine}:`));
  const isSaid =
    isOfRecipient ||
    (whom === 'everybody'
      ? ofLane
      : whom === 'one sender'
        ? ofProject || ((isOfAccount || isOfRate) && ofLane)
        : !isOfAccount || ofLane);
  const named = whom === 'everybody' ? [] : whom === 'one sender' ? others : [mine, ...others];
  const wrongly = log.filter((line) => named.some((id) => line.includes(id)));
  return [...(isSaid ? [] : [`it does not say who and why: ${JSON.stringify(log)}`]), ...wrongly];
}

/** Lets everything go out, and compares it with what the carrier took. */
async function judge(
  core: Core,
  projects: readonly Project[],
  peer: TroubledPeer,
): Promise<Pick<LaneFindings, 'lost' | 'twice' | 'untrue' | 'credits'>> {
  const deadline = Date.now() + longestEnd;
  const isUnderWay = async () => (await core.store.queueDepth()).some(({ waiting }) => waiting > 0);
  while (Date.now() < deadline && (await isUnderWay())) await sleep(50);
  await core.administration.idle();
  const found = { lost: 0, twice: 0, untrue: 0, credits: 0 };
  for (const times of peer.taken.values()) found.twice += times.length - 1;
  for (const { id: projectId, opening } of projects) {
    const caller = { projectId, keyId: 'torture' };
    const { data } = await core.operations.listMessages(caller, {}, { limit: 1_000, after: null });
    let spent = 0;
    for (const { to, status, delivery, credits, channel } of data) {
      const isTaken = peer.taken.has(to);
      spent += credits;
      if (status === 'queued' || (status === 'sent' && !isTaken)) found.lost += 1;
      // A single SMS may fail, which its caller was told.
      if (status === 'failed' && (isTaken || credits !== 0 || channel === 'email')) found.untrue += 1;
      if (delivery === 'unknown') found.untrue += 1;
    }
    const project = await core.administration.project(projectId);
    const balance = (await project?.credit(0)) ?? Number.NaN;
    const ledger = ((await project?.ledger()) ?? []).reduce((sum, { amount }) => sum + amount, 0);
    found.credits += Math.abs(balance - ledger) + Math.abs(opening - spent - balance);
  }
  return found;
}
