import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../../../src/contract/index.js';
import { systemClock } from '../../../src/service/clock.js';
import { createService, type Service } from '../../../src/service/index.js';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { type Account, openAccounts } from '../service/books.js';
import { attempt, type Reply } from '../service/customers.js';
import { type Server, scripted, served } from '../service/server.js';
import type { Break } from '../service/service-main.js';
import type { Peer } from './peer.js';

/** Past every doubt: SMTP's lasts 15 minutes. */
const afterDoubtMs = 20 * 60_000;
/** Milliseconds in which everything has its end, once every doubt is over: without kills most is sent only then. */
const longestEnd = 600_000;
/** Recipients of a batch. */
const batchSize = 250;

/** A request, and the recipients that it reaches. */
export interface Wanted {
  path: '/sms' | '/sms/bulk' | '/email' | '/email/bulk';
  to: string[];
  content: object;
}

export interface KillGame {
  seed: number;
  kills: number;
  signal: 'SIGKILL' | 'SIGTERM';
  /** `urtuu serve` itself, or a service that is broken on purpose. */
  service: 'urtuu serve' | Break;
  peers: readonly Peer[];
  /** The configuration, once the peers listen. */
  configuration(): object;
  wanted: readonly Wanted[];
}

export interface KillFindings {
  messages: number;
  kills: number;
  /** Pieces that a peer took again. */
  twice: number;
  /** Accepted, and not there or not at an end. */
  lost: number;
  /** Ended otherwise than the peer knows, or never accepted and there. */
  untrue: number;
  unknown: number;
  /** Of the messages that ended wrongly, for people. */
  examples: string[];
  /** Credits by which the balance differs from its ledger and from what was sent. */
  credits: number;
}

/** Kills the service at any moment of its sends over real connections, again and again, and asks the other side. */
export async function playKills(game: KillGame): Promise<KillFindings> {
  const { seed, kills, signal, peers, wanted } = game;
  const random = seededRandom(seed);
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  let server: Server | undefined;
  try {
    for (const peer of peers) await peer.listen();
    const configuration = join(machine.home, 'service.json');
    writeFileSync(configuration, JSON.stringify(game.configuration()));
    const environment = { PASSWORD: 'secret' };
    const [account] = (await openAccounts(directory, 1)) as [Account];
    server =
      game.service === 'urtuu serve'
        ? served(machine, directory, environment, ['--config', configuration])
        : await scripted(machine, directory, game.service, environment, configuration);
    await server.start();
    const sender = startSending(server, account, wanted);
    const messages = wanted.reduce((sum, { to }) => sum + to.length, 0);
    for (let kill = 0; kill < kills; kill += 1) {
      await momentToDie(peers, random, messages / kills);
      await server.end(signal);
      await server.start();
    }
    const accepted = await sender.finish();
    await server.end('SIGTERM');
    const source = { file: configuration, environment };
    return { kills, ...(await judge(game, directory, source, account, accepted)) };
  } finally {
    await server?.end('SIGKILL');
    for (const peer of peers) await peer.close();
    machine.remove();
  }
}

/** Some processes die at any time, also while they start and connect; most at a step of a carrier: `messages` a kill. */
export async function momentToDie(
  peers: readonly Peer[],
  random: () => number,
  messages: number,
): Promise<void> {
  if (random() < 0.3) return void (await sleep(random() * 400));
  let left = 1 + Math.floor(random() * 4 * messages);
  await Promise.race([
    sleep(3_000),
    new Promise<void>((resolve) => {
      for (const peer of peers) {
        peer.onMoment = () => {
          left -= 1;
          if (left === 0) resolve();
        };
      }
    }),
  ]);
  for (const peer of peers) peer.onMoment = () => {};
}

/** Posts one request after the other, each with its key until it is answered for good. */
function startSending(server: Server, account: Account, wanted: readonly Wanted[]) {
  const accepted: Wanted[] = [];
  const over = new AbortController();
  const post = async (one: Wanted, key: string): Promise<void> => {
    const isBulk = one.path.endsWith('/bulk');
    const body = { ...one.content, to: isBulk ? one.to : one.to[0] };
    for (;;) {
      const task = { path: one.path, body };
      const tooLong = AbortSignal.timeout(30_000);
      const signal = isBulk ? tooLong : AbortSignal.any([tooLong, over.signal]);
      const reply = await attempt(server.url, account.keys[0] ?? '', task, key, signal);
      if (reply !== null && isAccepted(reply)) return void accepted.push(one);
      if (reply !== null && reply.status < 500 && reply.status !== 429)
        throw new Error(`${one.path} was answered with ${reply.status}: ${JSON.stringify(reply.body)}`);
      // A single message in doubt stays so for minutes: whether it was accepted stays open.
      if (over.signal.aborted && !isBulk) return;
      await sleep(reply?.status === 429 ? 300 : 50);
    }
  };
  const work = async (all: readonly Wanted[], from: number) => {
    for (const [index, one] of all.entries()) {
      if (over.signal.aborted && !one.path.endsWith('/bulk')) return;
      await post(one, `${from}-${index}`);
    }
  };
  const bulk = wanted.filter(({ path }) => path.endsWith('/bulk'));
  const single = wanted.filter(({ path }) => !path.endsWith('/bulk'));
  const lines = [0, 1, 2, 3].map((line) => single.filter((_, index) => index % 4 === line));
  const sending = Promise.all([work(bulk, -1), ...lines.map((line, index) => work(line, index))]);
  // Looked at in the end.
  sending.catch(() => {});
  return {
    async finish(): Promise<Wanted[]> {
      over.abort();
      await sending;
      return accepted;
    },
  };
}

function isAccepted({ status, body }: Reply): boolean {
  return status < 300 || (body.error as { code?: unknown } | undefined)?.code === 'provider_failed';
}

/** Opens the data when every doubt is over, lets the rest be sent, and compares everything with the peers. */
async function judge(
  { peers, wanted }: KillGame,
  directory: string,
  configuration: { file: string; environment: Record<string, string> },
  account: Account,
  accepted: readonly Wanted[],
): Promise<Omit<KillFindings, 'kills'>> {
  const clock = { ...systemClock, now: () => systemClock.now() + afterDoubtMs };
  const service = await createService({ directory, configuration, clock, rates: 'off' });
  try {
    const deadline = Date.now() + longestEnd;
    const isOver = async () => peers.every((peer) => peer.isIdle) && !(await isUnderWay(service, account));
    while (Date.now() < deadline && !(await isOver())) await sleep(200);
    const messages = new Map((await messagesOf(service, account)).map((one) => [one.to, one]));
    const due = new Set(accepted.flatMap(({ to }) => to));
    const all = wanted.flatMap(({ to }) => to);
    const findings = { messages: messages.size, twice: 0, lost: 0, untrue: 0, unknown: 0 };
    const examples: string[] = [];
    let spent = 0;
    for (const to of all) {
      for (const peer of peers) findings.twice += peer.twiceOf(to);
      const message = messages.get(to);
      if (message === undefined) {
        if (due.has(to)) findings.lost += 1;
        if (peers.some((peer) => peer.takenOf(to) > 0)) findings.untrue += 1;
        continue;
      }
      spent += message.credits;
      if (message.status === 'queued') findings.lost += 1;
      else if (!peers.some((peer) => peer.isTrue(message))) {
        findings.untrue += 1;
        const pieces = peers.reduce((sum, peer) => sum + peer.takenOf(to), 0);
        examples.push(`${to} is ${message.status}, ${message.delivery}, taken: ${pieces}`);
      }
      if (message.status === 'failed' && message.credits !== 0) findings.untrue += 1;
      if (message.delivery === 'unknown') findings.unknown += 1;
    }
    const project = await service.administration.project(account.id);
    const balance = (await project?.credit(0)) ?? Number.NaN;
    const ledger = ((await project?.ledger()) ?? []).reduce((sum, { amount }) => sum + amount, 0);
    const credits = Math.abs(balance - ledger) + Math.abs(account.opening - spent - balance);
    return { ...findings, examples, credits };
  } finally {
    await service.close();
  }
}

async function get(service: Service, { keys }: Account, path: string) {
  const headers = { authorization: `Bearer ${keys[0]}` };
  const response = await service.fetch(`http://service/v1${path}`, { headers });
  if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
  return (await response.json()) as { data: Message[]; next: string | null };
}

async function isUnderWay(service: Service, account: Account): Promise<boolean> {
  return (await get(service, account, '/messages?status=queued&limit=1')).data.length > 0;
}

async function messagesOf(service: Service, account: Account): Promise<Message[]> {
  const all: Message[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page = await get(service, account, `/messages?limit=1000${next === '' ? '' : `&after=${next}`}`);
    all.push(...page.data);
    next = page.next;
  }
  return all;
}

/** Recipients in requests: one in fifty for itself, the others together. */
export function requestsFor(
  channel: 'sms' | 'email',
  recipients: readonly string[],
  contentOf: (index: number) => object,
): Wanted[] {
  const alone = recipients.filter((_, index) => index % 50 === 0);
  const together = recipients.filter((_, index) => index % 50 !== 0);
  const wanted: Wanted[] = alone.map((to, index) => ({
    path: `/${channel}`,
    to: [to],
    content: contentOf(index),
  }));
  for (let from = 0; from < together.length; from += batchSize)
    wanted.push({
      path: `/${channel}/bulk`,
      to: together.slice(from, from + batchSize),
      content: contentOf(from / batchSize),
    });
  return wanted;
}
