import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { startProxy } from '../../support/postgres/proxy.js';
import { query } from '../../support/postgres.js';
import { seededRandom } from '../../support/random.js';
import { audit, type Findings, openAccounts } from '../service/books.js';
import { type Customers, codeOf, startCustomers } from '../service/customers.js';
import { databaseSecret } from '../service/data.js';
import { leaseVariable } from '../service/lease.js';
import { type Server, scripted, servedOn } from '../service/server.js';
import type { Break } from '../service/service-main.js';
import { type Acknowledgement, type Task, type TaskMaker, taskMaker } from '../service/tasks.js';
import { wrongClock } from '../wrong-clock.js';
import { type Admitted, offCap, overRate } from './limits.js';
import { createDatabase, withCluster } from './own-cluster.js';
import { clearAway, giveAway, rearrangements } from './rearrange.js';
import { troubles as failures, startAgain } from './troubles.js';

/** Of the first rounds of the projects, one in so many goes to the recipient who reaches the cap. */
const hotRounds = { first: 60, every: 3 };
const troublesUntilRest = 12;
const hourMs = 3_600_000;

const troubles = { ...failures, ...rearrangements };
export type Trouble = keyof typeof troubles;

export interface ClusterOptions {
  seed: number;
  instances: number;
  projects: number;
  /** How many send at once. */
  customers: number;
  /** Of instances that are not `urtuu serve`. */
  leaseMs: number;
  /** Messages that customers begin to send before they finish. */
  messages: number;
  /** `urtuu serve` itself, or instances with short leases and no rate, broken if wanted. */
  service: 'urtuu serve' | Break;
  /** One of them happens after the other, as long as messages are sent. */
  troubles: readonly Trouble[];
  /** Milliseconds between them. */
  calmMs: number;
  /** One statement in so many is cut off, before it arrives or when it was answered; 0 for none. */
  cutEvery?: number;
  /** The instances have a role of their own, which owns the database. */
  hasRole?: boolean;
  /** The control of the other side: customers who repeat with a new key. */
  forgetKeys?: boolean;
}

export interface ClusterResult extends Findings {
  sends: number;
  messages: number;
  troubles: number;
  /** Messages over a cap, or missing to it. */
  caps: number;
  /** Requests over the rate. */
  rates: number;
  /** Messages without an end. */
  unfinished: number;
  /** Copies of the data that delivered something. */
  unheld: number;
  /** Refused as over a cap to others than the one who reaches it. */
  refused: number;
  /** SMS that failed and were refunded, because nobody could submit them in the time that their callers wait. */
  givenUp: number;
}

/** Instances on one PostgreSQL, each with a clock an hour ahead of the one before, and what can happen to them. */
export function playCluster(options: ClusterOptions): Promise<ClusterResult> {
  const { seed, instances, projects, leaseMs, service, cutEvery = 0 } = options;
  const random = seededRandom(seed);
  return withCluster(async (cluster) => {
    const machine = new Machine();
    const servers: Server[] = [];
    const database = await createDatabase(cluster.url, 'urtuu');
    const accounts = await openAccounts(database, projects);
    const served = options.hasRole ? await giveAway(database) : database;
    const proxy = await startProxy(database, false);
    const secretFile = join(machine.home, 'secret');
    writeFileSync(secretFile, databaseSecret, { mode: 0o600 });
    let customers: Customers | undefined;
    const serverOn = async (url: string, clock: NodeJS.ProcessEnv = {}) => {
      const env = { ...clock, [leaseVariable]: String(leaseMs) };
      return service === 'urtuu serve'
        ? servedOn(machine, url, secretFile, env)
        : scripted(machine, url, service, env);
    };
    try {
      for (let at = 0; at < instances; at += 1) {
        // The database tells the time: what the instances take it to be must not matter.
        const server = await serverOn(cutEvery > 0 ? proxy.url : served, wrongClock(at * hourMs));
        servers.push(server);
        await startAgain(server);
      }
      if (cutEvery > 0) {
        proxy.cuts = () => (random() * cutEvery < 1 ? (random() < 0.5 ? 'before' : 'after') : null);
      }
      const setting = {
        servers,
        cluster,
        database,
        random,
        pauseMs: leaseMs + 1_500,
        crashes: [] as number[],
        unheld: [] as number[],
        serverOn: (url: string) => serverOn(options.hasRole ? url.replace('postgres@', 'app@') : url),
      };
      const admitted: Admitted[] = [];
      const maker = withHotRecipients(taskMaker(projects, random, 40), projects);
      let asked = 0;
      customers = startCustomers({
        count: options.customers,
        next: maker.next,
        url() {
          asked += 1;
          return servers[asked % servers.length]?.url ?? '';
        },
        apiKey: (project) => accounts[project]?.keys[0] ?? '',
        forgetKeys: options.forgetKeys ?? false,
        onReply({ project }, reply, from, to) {
          const isAdmitted = reply.status < 500 && codeOf(reply) !== 'rate_limited';
          if (isAdmitted) admitted.push({ project, from, to });
        },
      });
      let count = 0;
      while (maker.messages < options.messages || count < options.troubles.length) {
        await sleep(options.calmMs * (0.5 + random()));
        const trouble = options.troubles[count % options.troubles.length];
        if (trouble === undefined) continue;
        await troubles[trouble](setting);
        count += 1;
        // Leases of the dead are ended by who has been connected for as long as a lease.
        if (count % troublesUntilRest === 0) await sleep(options.leaseMs * 1.1);
      }
      proxy.cuts = null;
      const answered = await customers.finish();
      const unfinished = await unfinishedIn(database);
      await Promise.all(servers.map((server) => server.end('SIGTERM')));
      if (options.hasRole) await clearAway(database);
      const isHot = (task: Task) => task.body.to === hot;
      const refused = answered.filter(({ status }) => status === 429);
      const sent = answered.filter(({ status }) => status !== 429).map(asAnswered);
      const caps = accounts.map((_, project) => {
        const ofHot = (all: typeof answered) =>
          all.filter(({ task }) => isHot(task) && task.project === project);
        return offCap(
          ofHot(sent).map(({ at }) => at),
          ofHot(refused).length,
        );
      });
      return {
        ...(await audit(database, accounts, sent)),
        sends: answered.length,
        messages: sent.reduce((sum, { task }) => sum + task.arrive, 0),
        troubles: count,
        caps: sum(caps),
        refused: refused.filter(({ task }) => !isHot(task)).length,
        givenUp: answered.filter((one) => asAnswered(one) !== one).length,
        rates: service === 'urtuu serve' ? overRate(admitted, setting.crashes) : 0,
        unfinished,
        unheld: setting.unheld.length,
      };
    } finally {
      customers?.dismiss();
      proxy.close();
      await Promise.all(servers.map((server) => server.end('SIGKILL')));
      machine.remove();
    }
  });
}

const hot = '99999999';
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A failure is an honest answer to a single SMS: then it must not arrive, and costs nothing. */
function asAnswered(one: Acknowledgement): Acknowledgement {
  if (one.status !== 502 || one.task.arrive === 0) return one;
  return { ...one, task: { ...one.task, arrive: 0, refused: 1, cost: 0 } };
}

/** Counts messages, and lets everybody send to one recipient now and then. */
function withHotRecipients({ next }: TaskMaker, projects: number): TaskMaker & { readonly messages: number } {
  let made = 0;
  let messages = 0;
  return {
    get messages() {
      return messages;
    },
    next() {
      const round = Math.floor(made / projects);
      made += 1;
      const task = next();
      const isHot = round < hotRounds.first && round % hotRounds.every === 0;
      const chosen: Task = isHot
        ? { ...task, path: '/sms', body: { to: hot, text: 'Hello' }, arrive: 1, refused: 0, cost: 10 }
        : task;
      messages += chosen.arrive;
      return chosen;
    },
  };
}

/** Messages that have no end although their leases are over. */
async function unfinishedIn(database: string): Promise<number> {
  for (let waited = 0; ; waited += 1) {
    const [row] = await query<{ count: number }>(
      database,
      "SELECT count(*)::int AS count FROM messages WHERE status = 'queued'",
    );
    if (row?.count === 0 || waited === 75) return row?.count ?? 0;
    await sleep(1_000);
  }
}
