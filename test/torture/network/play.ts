import { join } from 'node:path';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import { type Core, openCore } from '../../../src/service/core.js';
import { createApp } from '../../../src/service/http/app.js';
import { listen } from '../../../src/service/http/listen.js';
import { Machine } from '../../support/binary.js';
import { caller } from '../../support/cores.js';
import { seededRandom } from '../../support/random.js';
import { startFaultProxy } from '../fault-proxy.js';
import { type Call, callMaker, callOf, singlePrefix } from './calls.js';
import { type ClientKind, newClient } from './clients.js';

export interface NetworkResult {
  requests: number;
  faults: number;
  calls: number;
  /** Calls that ended without anybody knowing; the others resolved or were refused for good. */
  doubtful: number;
  /** Recipients of calls that resolved who got nothing. */
  lost: number;
  /** Messages that came again, whatever became of their call. */
  twice: number;
  /** Messages of calls that were refused. */
  refusedButSent: number;
  /** Calls that resolved to something else than their own message or batch. */
  foreign: number;
}

type Ending = { kind: 'resolved'; id: string } | { kind: 'refused' } | { kind: 'doubtful' };
type Ended = { call: Call; ending: Ending };

const mostCallers = 128;
/** How often a caller with a key of its own asks again while its call is in doubt. */
const repeats = 4;
/** The share of single messages that no operator takes. */
const refused = 0.06;

/**
 * Sends through a network that fails, with a client and a service as they are, until so many requests have
 * come; then compares what each caller was told with what was delivered.
 */
export async function playNetwork(options: {
  seed: number;
  requests: number;
  /** Share of requests that something happens to. */
  faults: number;
  client: ClientKind;
}): Promise<NetworkResult> {
  const random = seededRandom(options.seed);
  const machine = new Machine();
  const core = await openCore(
    { directory: join(machine.home, 'service'), rates: 'off' },
    { carrier: (carrier) => moody(carrier, seededRandom(options.seed + 1)) },
  );
  const listening = await listen(createApp(core.operations).answer, { port: 0 });
  const port = Number(new URL(listening.url).port);
  const proxy = await startFaultProxy(() => port, options.faults, random);
  try {
    await core.administration.credit(1_000_000_000);
    // A client that is wrong must not be stopped by the caps before it shows.
    await core.administration.settings.update({ caps: { per_10_minutes: 20, per_24_hours: 80 } });
    const client = newClient(options.client, core.localKey, `http://127.0.0.1:${proxy.port}/v1`);
    const next = callMaker(random);
    const ended: Ended[] = [];
    async function work(): Promise<void> {
      while (proxy.counts.requests < options.requests) {
        const call = next();
        ended.push({ call, ending: await endOf(call, () => call.make(client)) });
      }
    }
    await Promise.all(Array.from({ length: Math.min(mostCallers, options.requests) }, work));
    await core.administration.idle();
    const doubtful = ended.filter(({ ending }) => ending.kind === 'doubtful').length;
    return { ...proxy.counts, calls: ended.length, doubtful, ...(await compare(core, ended)) };
  } finally {
    await proxy.close();
    await listening.close();
    await core.close();
    machine.remove();
  }
}

/** Now and then takes no single SMS, so that the client has to go on with a new key. */
function moody(carrier: Carrier, random: () => number): Carrier {
  return {
    ...carrier,
    async submit(submission, signal) {
      const isRefused = submission.to.startsWith(singlePrefix) && random() < Math.sqrt(refused);
      return isRefused
        ? { kind: 'refused', reason: 'a mood', tryNextRoute: true }
        : carrier.submit(submission, signal);
    },
  };
}

async function endOf(call: Call, make: () => Promise<{ id: string }>): Promise<Ending> {
  for (let repeat = 0; ; repeat += 1) {
    try {
      return { kind: 'resolved', id: (await make()).id };
    } catch (error) {
      const { code, status } = error as { code?: string; status?: number | null };
      if (code === undefined) throw error;
      if (code === 'provider_failed') return { kind: 'refused' };
      const isDoubt =
        code === 'unexpected_response' || status === null || status === undefined || status >= 500;
      if (!isDoubt) throw error;
      if (call.key === null || repeat === repeats) return { kind: 'doubtful' };
    }
  }
}

/** How often each recipient of a call got its message, and the ids of those messages. */
interface Arrivals {
  times: Map<string, number>;
  ids: Set<string>;
}
const nothing: Arrivals = { times: new Map(), ids: new Set() };

async function compare(
  core: Core,
  ended: readonly Ended[],
): Promise<Pick<NetworkResult, 'lost' | 'twice' | 'refusedButSent' | 'foreign'>> {
  const arrived = new Map<number, Arrivals>();
  for await (const { to, text, subject, message_id } of core.administration.outbox()) {
    const number = callOf(subject) ?? callOf(text) ?? Number.NaN;
    const deliveries = arrived.get(number) ?? { times: new Map(), ids: new Set() };
    arrived.set(number, deliveries);
    deliveries.times.set(to, (deliveries.times.get(to) ?? 0) + 1);
    deliveries.ids.add(message_id);
  }
  const found = { lost: 0, twice: 0, refusedButSent: 0, foreign: 0 };
  for (const { call, ending } of ended) {
    const { times, ids } = arrived.get(call.number) ?? nothing;
    arrived.delete(call.number);
    const count = [...times.values()].reduce((sum, one) => sum + one, 0);
    found.twice += count - new Set(call.to.filter((to) => times.has(to))).size;
    if (ending.kind === 'refused') found.refusedButSent += count;
    if (ending.kind !== 'resolved') continue;
    found.lost += call.to.filter((to) => !times.has(to)).length;
    if (!(await isOwn(core, call, ending.id, ids))) found.foreign += 1;
  }
  // What is left was delivered for nobody who asked.
  for (const { times } of arrived.values()) found.twice += times.size;
  return found;
}

/** Whether the id that a call resolved to is that of what it sent. */
async function isOwn({ operations }: Core, call: Call, id: string, ids: Set<string>): Promise<boolean> {
  if (call.kind === 'message') return ids.has(id);
  if (call.kind === 'verification') return (await operations.getVerification(caller, id)).to === call.to[0];
  const { data } = await operations.listBatchMessages(caller, id, { limit: 100, after: null });
  return data.length === ids.size && data.every((message) => ids.has(message.id));
}
