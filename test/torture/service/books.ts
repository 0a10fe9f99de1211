import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../../../src/contract/index.js';
import { createService, type Service } from '../../../src/service/index.js';
import { dataAt } from './data.js';
import type { Acknowledgement } from './tasks.js';

export interface Account {
  id: string;
  /** API keys of the project. */
  keys: string[];
  opening: number;
}

/** Makes data with projects, each with credits enough for everything. */
export async function openAccounts(data: string, count: number, keys = 1): Promise<Account[]> {
  const service = await createService(dataAt(data));
  const accounts: Account[] = [];
  for (let made = 0; made < count; made += 1) {
    const { id } = await service.administration.createProject(`Customer ${made}`);
    const project = await service.administration.project(id);
    if (project === null) throw new Error('the project is gone');
    const secrets = [];
    for (let key = 0; key < keys; key += 1) secrets.push((await project.createKey()).secret);
    accounts.push({ id, keys: secrets, opening: await project.credit(50_000_000) });
  }
  await service.close();
  return accounts;
}

/** What is wrong with the books, in messages, answers and credits. All 0 is right. */
export interface Findings {
  /** Acknowledged, but not delivered, or not known any more. */
  lost: number;
  /** Acknowledged, not delivered, and said so: sent, with delivery unknown. */
  unknown: number;
  /** Delivered again, or delivered without having been acknowledged. */
  twice: number;
  /** Acknowledged otherwise than was due, or answered otherwise when repeated. */
  answers: number;
  /** Credits by which balances differ from their ledgers and from what was due. */
  credits: number;
}

export const wrong = ({ lost, unknown, twice, answers, credits }: Findings): number =>
  lost + unknown + twice + answers + credits;

/** Milliseconds in which everything has its end: twice what a stopped process may hold. */
const longestEnd = 60_000;

/** Checks that are made at once: most of their time is the database's. */
const checkers = 8;

/** Opens the data once everything is over, lets the rest be delivered, and compares all with all. */
export async function audit(
  data: string,
  accounts: readonly Account[],
  acknowledged: readonly Acknowledgement[],
  secret?: Uint8Array,
): Promise<Findings> {
  const service = await createService({ ...dataAt(data, secret), rates: 'off' });
  try {
    const deadline = Date.now() + longestEnd;
    await forEach(acknowledged, async (one) => {
      const apiKey = accounts[one.task.project]?.keys[0] ?? '';
      while (Date.now() < deadline && (await isUnderWay(service, apiKey, one))) {
        await service.administration.idle();
        await sleep(50);
      }
    });
    const delivered = new Map<string, number>();
    for await (const { message_id } of service.administration.outbox()) {
      delivered.set(message_id, (delivered.get(message_id) ?? 0) + 1);
    }
    const findings: Findings = { lost: 0, unknown: 0, twice: 0, answers: 0, credits: 0 };
    let expected = 0;
    await forEach(acknowledged, async (one) => {
      expected += one.task.arrive;
      const apiKey = accounts[one.task.project]?.keys[0] ?? '';
      const sent = await sentMessages(service, apiKey, one);
      if (sent === null) {
        if (findings.lost === 0) await printLost(service, apiKey, one);
        findings.lost += one.task.arrive;
        if (one.task.arrive === 0) findings.answers += 1;
        return;
      }
      const missing = sent.filter(({ id }) => !delivered.has(id));
      const unknown = missing.filter(({ delivery }) => delivery === 'unknown').length;
      const lost = missing.length - unknown + Math.max(0, one.task.arrive - sent.length);
      if (findings.lost === 0 && lost > 0) await printLost(service, apiKey, one);
      findings.lost += lost;
      findings.unknown += unknown;
      if (!(await answersAgain(service, apiKey, one))) findings.answers += 1;
    });
    const total = [...delivered.values()].reduce((sum, times) => sum + times, 0);
    findings.twice = Math.max(0, total - (expected - findings.lost - findings.unknown));
    for (const [project, account] of accounts.entries()) {
      const due = acknowledged.reduce((sum, { task }) => sum + (task.project === project ? task.cost : 0), 0);
      findings.credits += await differenceOf(service, account, account.opening - due);
    }
    return findings;
  } finally {
    await service.close();
  }
}

async function forEach<Item>(items: readonly Item[], check: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const checker = async () => {
    for (const item of left) await check(item);
  };
  await Promise.all(Array.from({ length: checkers }, checker));
}

/** Asks until there is an answer: a store that is too slow on a busy machine has lost nothing. */
async function ask(service: Service, apiKey: string, path: string, init?: RequestInit): Promise<Response> {
  const headers = { ...init?.headers, authorization: `Bearer ${apiKey}` };
  const end = Date.now() + longestEnd;
  for (;;) {
    const response = await service.fetch(`http://service/v1${path}`, { ...init, headers });
    if (response.status !== 503 || Date.now() >= end) return response;
    await sleep(250);
  }
}

async function get(service: Service, apiKey: string, path: string) {
  const response = await ask(service, apiKey, path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Where the service shows a message or a batch. */
function pathOf({ task, status, body }: Acknowledgement): string {
  if (task.path.endsWith('/bulk')) return `/batches/${body.id}`;
  return `/messages/${status === 502 ? (body.error as { id: string }).id : body.id}`;
}

async function isUnderWay(service: Service, apiKey: string, one: Acknowledgement): Promise<boolean> {
  const { body } = await get(service, apiKey, pathOf(one));
  return body.status === 'queued' || body.status === 'processing';
}

/** The messages of a send that were sent, by the service's own word; null when it does not know it. */
async function sentMessages(
  service: Service,
  apiKey: string,
  one: Acknowledgement,
): Promise<Message[] | null> {
  const { task } = one;
  const path = pathOf(one);
  if (!task.path.endsWith('/bulk')) {
    const message = await get(service, apiKey, path);
    if (message.status !== 200) return null;
    return message.body.status === 'sent' ? [message.body as unknown as Message] : [];
  }
  const batch = await get(service, apiKey, path);
  const page = await get(service, apiKey, `${path}/messages?limit=1000`);
  if (batch.status !== 200 || page.status !== 200 || batch.body.status !== 'completed') return null;
  if (batch.body.sent !== task.arrive || batch.body.failed !== task.refused) return null;
  return (page.body.data as Message[]).filter(({ status }) => status === 'sent');
}

/** The first says more than how many there are. */
async function printLost(service: Service, apiKey: string, one: Acknowledgement): Promise<void> {
  const found = await get(service, apiKey, pathOf(one));
  process.stdout.write(`lost: ${pathOf(one)}: ${JSON.stringify(found)}\n`);
}

/** A repeat with the same key gives the answer that was acknowledged. */
async function answersAgain(service: Service, apiKey: string, one: Acknowledgement): Promise<boolean> {
  const { task, status, body } = one;
  const isDue = status === (task.path === '/sms' ? (task.refused === 0 ? 200 : 502) : 202);
  const again = await ask(service, apiKey, task.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': task.idempotencyKey },
    body: JSON.stringify(task.body),
  });
  return isDue && again.status === status && (await again.text()) === JSON.stringify(body);
}

async function differenceOf(service: Service, { id }: Account, due: number): Promise<number> {
  const project = await service.administration.project(id);
  if (project === null) return Number.POSITIVE_INFINITY;
  const balance = await project.credit(0);
  const ledger = (await project.ledger()).reduce((sum, { amount }) => sum + amount, 0);
  return Math.abs(balance - ledger) + Math.abs(balance - due);
}
