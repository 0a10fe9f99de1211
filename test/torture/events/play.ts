import { ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Core } from '../../../src/service/core.js';
import type { IncomingMessage } from '../../../src/service/storage/store.js';
import { caller } from '../../support/cores.js';
import { seededRandom } from '../../support/random.js';
import { withCluster } from '../cluster/own-cluster.js';
import type { Engine } from '../engines.js';
import { Judge } from './judge.js';
import { Listener, type ListenerKind } from './listener.js';
import { type StoreKind, storeOf } from './stores.js';
import { World } from './world.js';

export interface EventsOptions {
  seed: number;
  /** Sends; what else is reported comes on top. */
  messages: number;
  engine: Engine;
  listener?: ListenerKind;
  store?: StoreKind;
}

export interface EventsResult {
  reported: number;
  lines: number;
  calls: number;
  kills: number;
  expired: number;
  wrong: Judge['wrong'];
}

const sendsInALife = 40;
/** Accepted, refused, with a receipt, and without an answer of the operator. */
const odd = ['99000001', '99000021', '99000022', '99000006'];

/** What ends a line; a restart does not. */
const troubles = {
  SQLite: ['restart', 'reset', 'release', 'restore', 'old copy'],
  PostgreSQL: ['restart', 'reset', 'release', 'restore', 'failover'],
} as const;
type Trouble = (typeof troubles)[Engine][number];

/** A listener is killed at every call while messages end, and while the service is restored, reset and moved. */
export async function playEvents(options: EventsOptions): Promise<EventsResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-events-'));
  try {
    if (options.engine === 'SQLite') return await play(options, folder, null);
    return await withCluster((cluster) => play(options, folder, cluster));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(
  { seed, messages, engine, listener: listens = 'shipped', store = 'shipped' }: EventsOptions,
  folder: string,
  cluster: Parameters<Parameters<typeof withCluster>[0]>[0] | null,
): Promise<EventsResult> {
  const random = seededRandom(seed);
  const judge = new Judge();
  const listener = new Listener(listens, random);
  const world = new World(folder, cluster, (data, real) => storeOf(store, data, judge.watch(real)));
  const result: EventsResult = { reported: 0, lines: 0, calls: 0, kills: 0, expired: 0, wrong: judge.wrong };
  await world.open();
  const other = await world.cores[0]?.administration.createProject('Other');
  const life = { random, judge, listener, world, otherId: other?.id ?? '' };
  try {
    for (let sent = 0; sent < messages; sent += sendsInALife) {
      await traffic(life, sendsInALife);
      // What nobody has read is lost with its line.
      if (random() < 0.7) await readAll(life);
      const isMoved = engine === 'PostgreSQL' && !world.isOnPostgres;
      const all = troubles[engine];
      const trouble = all[Math.floor(random() * all.length)] as Trouble;
      if (await happens(life, isMoved ? 'move' : trouble)) result.lines += 1;
      await world.closeForeign();
    }
    await readAll(life);
  } finally {
    await world.closeForeign();
    await world.close();
  }
  ok(
    judge.reported > messages / 4 && listener.kills > 10,
    `${judge.reported} events, ${listener.kills} kills`,
  );
  const { calls, kills, expired } = listener;
  return { ...result, reported: judge.reported, calls, kills, expired };
}

interface Life {
  random: () => number;
  judge: Judge;
  listener: Listener;
  world: World;
  otherId: string;
}

let serial = 0;

/** Messages of two projects end, and others come in, while somebody listens. */
async function traffic({ random, judge, listener, world, otherId }: Life, count: number): Promise<void> {
  const below = (most: number) => Math.floor(random() * most);
  const core = () => world.cores[below(world.cores.length)] as Core;
  await world.openForeign();
  for (const one of world.cores)
    for (const id of [caller.projectId, otherId]) await one.store.credit(id, 10_000);
  // It listens before anything is to be reported.
  const { answers } = listener;
  while (listener.answers === answers) await listener.call(core());
  judge.isHeard = true;
  let isOver = false;
  const listening = (async () => {
    while (!isOver) {
      await listener.call(core());
      await setImmediate();
    }
  })();
  const sends = Array.from({ length: count }, async () => {
    serial += 1;
    const number = `${88_000_000 + serial}`;
    const project = { ...caller, projectId: random() < 0.7 ? caller.projectId : otherId };
    const call = { caller: project, idempotencyKey: null };
    const { operations, store } = core();
    for (let turn = below(20); turn > 0; turn -= 1) await setImmediate();
    const kind = random();
    if (kind < 0.6) {
      const to = random() < 0.2 ? (odd[below(odd.length)] as string) : number;
      // A recipient that has had enough, or a refusal.
      await operations.sendSms({ ...call, params: { to, text: 'Hi' } }).catch(() => {});
    } else if (kind < 0.75) {
      const to = Array.from({ length: 2 + below(8) }, (_, index) => `${86_000_000 + serial * 10 + index}`);
      await operations.sendSmsBulk({ ...call, params: { to, text: 'Hi' } });
    } else if (kind < 0.9) {
      const { projectId } = caller;
      await judge.during(store.suppress(projectId, number, 'manual'), () => [
        `recipient.suppressed ${number}`,
      ]);
    } else {
      const given = incoming(caller.projectId, number);
      await judge.during(store.keepIncoming(given), () => [`message.received ${given.id}`]);
    }
  });
  try {
    await Promise.all(sends);
    await Promise.all(world.cores.map((one) => one.administration.idle()));
  } finally {
    isOver = true;
    await listening;
  }
}

const incoming = (projectId: string, from: string): IncomingMessage => ({
  ...{ id: crypto.randomUUID(), projectId, channel: 'sms', from, to: '139911', subject: null, text: 'Hi' },
  ...{ fingerprint: null, part: null },
});

/** Nobody kills it, until nothing is left. */
async function readAll({ judge, listener, world }: Life): Promise<void> {
  const [core] = world.cores;
  if (core === undefined) return;
  while (await listener.call(core, true));
  judge.judge(listener);
}

/** Whether it ends the line; then a listener must be told that events may be lost. */
async function happens(life: Life, trouble: Trouble | 'move'): Promise<boolean> {
  const { judge, listener, random, world } = life;
  if (trouble === 'restart') {
    if (random() < 0.5) await world.backup();
    await world.restart();
    return false;
  }
  if (trouble === 'restore' && !(await world.restore())) {
    await world.backup();
    return false;
  }
  judge.endLine();
  const isTold = isExpiredFor(listener);
  if (trouble === 'reset') await world.reset();
  if (trouble === 'release') await world.hold();
  if (trouble === 'old copy') await world.acceptOldCopy();
  if (trouble === 'failover') await world.failOver();
  if (trouble === 'move') await world.move();
  const [core] = world.cores as [Core];
  // Somebody listens while it is held, too.
  for (let call = 0; call < 3; call += 1) await listener.call(core);
  const isReleased = isExpiredFor(listener);
  const wasHeld = await core.administration.release('queue');
  await listener.call(core, true);
  if (!(wasHeld ? isReleased() : isTold())) judge.wrong.silent += 1;
  return true;
}

/** From now on: whether a listener that has a cursor is told that events may be lost. */
function isExpiredFor(listener: Listener): () => boolean {
  const { cursor, expired } = listener;
  return () => cursor === null || listener.expired > expired;
}
