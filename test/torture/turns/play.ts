import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../../../src/contract/index.js';
import { systemClock } from '../../../src/service/clock.js';
import { type Core, openCore } from '../../../src/service/core.js';
import { Machine } from '../../support/binary.js';
import { seededRandom } from '../../support/random.js';
import { smppRoute } from '../../support/routes.js';
import { Smsc } from '../../support/smsc.js';
import { startAgain } from '../cluster/troubles.js';
import { type Engine, withEngine } from '../engines.js';
import { type Account, openAccounts } from '../service/books.js';
import { attempt } from '../service/customers.js';
import { dataAt } from '../service/data.js';
import { leaseMs } from '../service/lease.js';
import { type Server, scripted } from '../service/server.js';
import type { Break } from '../service/service-main.js';
import { type Shares, sharesOf } from './shares.js';

const lane = 'Mobicom';
const projects = 20;
/** Connections of the route, most of those of the dead for a while, and messages in each. */
const binds = 10;
const window = 4;
/** Recipients of a batch: those of some projects wait in one, those of others in many. */
const batchSizes = [1_000, 250, 40];
/** Past every doubt. */
const afterDoubtMs = 20 * 60_000;
/** Milliseconds without a message, after which what is left waits for the end of a doubt. */
const longestSilence = leaseMs + 7_500;
/** Milliseconds in which everything has its end, once every doubt is over. */
const longestEnd = 60_000;
const credits = 10;

export interface TurnsOptions {
  seed: number;
  engine: Engine;
  /** Of each of the projects. */
  messages: number;
  perSecond: number;
  /** One after the other, as long as messages go out. */
  troubles: readonly ('kill' | 'pause')[];
  calmMs: number;
  service: Break;
}

export interface TurnsResult extends Shares {
  messages: number;
  kills: number;
  pauses: number;
  /** Accepted, and not there, not at an end, or sent and never taken. */
  lost: number;
  twice: number;
  /** Ended otherwise than the operator knows. */
  untrue: number;
  unknown: number;
  /** Messages that the kills may leave unknown. */
  most: number;
  /** Credits by which balances differ from their ledgers and from what was sent. */
  credits: number;
}

/** Recipients by project. */
const recipientsOf = (project: number, count: number) =>
  Array.from({ length: count }, (_, index) => `99${String(project).padStart(2, '0')}${1_000 + index}`);
const projectOf = (to: string) => Number(to.slice(2, 4));

/** Two instances that are killed and paused while projects wait for one lane. */
export function playTurns(options: TurnsOptions): Promise<TurnsResult> {
  const { seed, engine, messages, perSecond, troubles, calmMs, service } = options;
  const random = seededRandom(seed);
  return withEngine(engine, async (newData) => {
    const data = await newData();
    const machine = new Machine();
    const smsc = new Smsc({ onTaken: (_, answer) => void setTimeout(answer, random() * 10) });
    const servers: Server[] = [];
    try {
      const accounts = await openAccounts(data, projects);
      const file = join(machine.home, 'service.json');
      writeFileSync(file, JSON.stringify(configurationOf(await smsc.listen(), perSecond)));
      const environment = { PASSWORD: 'secret' };
      for (let count = 0; count < 2; count += 1) {
        const server = await scripted(machine, data, service, environment, file);
        servers.push(server);
      }
      // Nothing goes out before all of them wait.
      await asOwner(data, ({ store }) => store.pauseLane(lane));
      for (const server of servers) await startAgain(server);
      await Promise.all(
        accounts.map((account, project) =>
          sendAll(servers[project % 2] as Server, account, recipientsOf(project, messages), project),
        ),
      );
      await asOwner(data, ({ store }) => store.resumeLane(lane));
      const counts = { kill: 0, pause: 0 };
      const isUnderWay = untilSilent(smsc, projects * messages);
      for (let count = 0; isUnderWay(); count += 1) {
        await sleep(calmMs * (0.5 + random()));
        const trouble = troubles[count % troubles.length];
        // The last of the way is left in peace: everything has its end then.
        if (trouble === undefined || smsc.taken.length > projects * messages * 0.9) continue;
        counts[trouble] += 1;
        await happen[trouble](servers[Math.floor(random() * 2)] as Server);
      }
      await Promise.all(servers.map((server) => server.end('SIGTERM')));
      const source = { file, environment };
      const shares = sharesOf(
        smsc.taken.map(({ to }) => projectOf(to)),
        projects,
      );
      const judged = await judge(data, source, accounts, smsc, messages);
      const { kill: kills, pause: pauses } = counts;
      return {
        ...shares,
        ...judged,
        messages: projects * messages,
        kills,
        pauses,
        most: binds * window * kills,
      };
    } finally {
      await Promise.all(servers.map((server) => server.end('SIGKILL')));
      await smsc.close();
      machine.remove();
    }
  });
}

const happen = {
  async kill(server: Server) {
    await server.end('SIGKILL');
    await startAgain(server);
  },
  async pause(server: Server) {
    server.signal('SIGSTOP');
    await sleep(leaseMs + 1_500);
    server.signal('SIGCONT');
  },
};

function configurationOf(port: number, perSecond: number): object {
  const route = smppRoute(port, { name: lane, per_second: perSecond, binds, window });
  return { sms: { routes: [route] }, email: 'off' };
}

async function asOwner(data: string, work: (core: Core) => Promise<unknown>): Promise<void> {
  const core = await openCore(dataAt(data), {}, { forOwner: true });
  try {
    await work(core);
  } finally {
    await core.close();
  }
}

async function sendAll(
  server: Server,
  { keys }: Account,
  recipients: readonly string[],
  project: number,
): Promise<void> {
  const size = batchSizes[project % batchSizes.length] as number;
  for (let from = 0; from < recipients.length; from += size) {
    const body = { to: recipients.slice(from, from + size), text: 'Hello' };
    const reply = await attempt(server.url, keys[0] ?? '', { path: '/sms/bulk', body }, `batch-${from}`);
    if (reply?.status !== 202)
      throw new Error(`a batch was answered with ${reply?.status}: ${JSON.stringify(reply?.body)}`);
  }
}

/** False once everything was taken, or nothing for a while. */
function untilSilent(smsc: Smsc, messages: number): () => boolean {
  let taken = 0;
  let at = Date.now();
  return () => {
    if (smsc.taken.length > taken) [taken, at] = [smsc.taken.length, Date.now()];
    return taken < messages && Date.now() < at + longestSilence;
  };
}

/** Opens the data when every doubt is over, lets the rest be sent, and compares everything with the operator. */
async function judge(
  data: string,
  configuration: { file: string; environment: Record<string, string> },
  accounts: readonly Account[],
  smsc: Smsc,
  messages: number,
): Promise<Pick<TurnsResult, 'lost' | 'twice' | 'untrue' | 'unknown' | 'credits'>> {
  const clock = { ...systemClock, now: () => systemClock.now() + afterDoubtMs };
  const core = await openCore({ ...dataAt(data), configuration, clock, rates: 'off' });
  try {
    const deadline = Date.now() + longestEnd;
    const isUnderWay = async () => (await core.store.queueDepth()).some(({ waiting }) => waiting > 0);
    while (Date.now() < deadline && (await isUnderWay())) await sleep(100);
    await core.administration.idle();
    const taken = new Map<string, number>();
    for (const { to } of smsc.taken) taken.set(to, (taken.get(to) ?? 0) + 1);
    const found = { lost: 0, twice: 0, untrue: 0, unknown: 0, credits: 0 };
    for (const times of taken.values()) found.twice += times - 1;
    for (const [project, account] of accounts.entries()) {
      const known = new Map((await messagesOf(core, account)).map((one) => [one.to, one]));
      for (const to of recipientsOf(project, messages)) {
        const message = known.get(to);
        if (message === undefined || message.status === 'queued') found.lost += 1;
        else if (message.status === 'failed') found.untrue += 1;
        else if (message.delivery === 'unknown') found.unknown += 1;
        else if (!taken.has(to)) found.lost += 1;
      }
      const owner = await core.administration.project(account.id);
      const balance = (await owner?.credit(0)) ?? Number.NaN;
      const ledger = ((await owner?.ledger()) ?? []).reduce((sum, { amount }) => sum + amount, 0);
      found.credits += Math.abs(balance - ledger) + Math.abs(account.opening - messages * credits - balance);
    }
    return found;
  } finally {
    await core.close();
  }
}

async function messagesOf({ operations }: Core, { id }: Account): Promise<Message[]> {
  const all: Message[] = [];
  for (let after: string | null = null; ; ) {
    const caller = { projectId: id, keyId: 'torture' };
    const page = await operations.listMessages(caller, {}, { limit: 1_000, after });
    all.push(...page.data);
    if (page.next === null) return all;
    after = page.next;
  }
}
