import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RouteLimits } from '../../../../src/service/carriers/smpp/limits.js';
import { bindLeaseMs, sharedRouteLimits } from '../../../../src/service/carriers/smpp/shared-limits.js';
import { type Clock, ManualClock } from '../../../../src/service/clock.js';
import type { ConnectionState, Instance } from '../../../../src/service/storage/instances.js';
import type { RouteBinds } from '../../../../src/service/storage/route-limits.js';
import { routeTo, SmppDesk, submissionOf, until } from '../../../support/smpp.js';
import { Smsc } from '../../../support/smsc.js';

const instanceWith = (state: ConnectionState, index: number): Instance => ({
  id: `other ${index}`,
  version: '1.0.0',
  address: null,
  carriers: [{ lane: 'Mobicom', state, forMs: 0 }],
  lastMinute: [],
  seenMs: 0,
});

type Leased = (holder: string) => boolean | Promise<boolean>;

let smsc: Smsc;
let desk: SmppDesk;
let clock: ManualClock;
let leased: Leased;
let asked: string[];
let released: string[];
/** Milliseconds that the process was paused: no timer has run. */
let paused: number;
/** The states of the other instances' connections. */
let others: ConnectionState[];
let limits: RouteLimits;

beforeEach(async () => {
  smsc = new Smsc();
  clock = new ManualClock(Date.UTC(2026, 10, 22));
  [leased, asked, released, paused, others] = [() => true, [], [], 0, []];
  const pausable: Clock = {
    now: () => clock.now() + paused,
    monotonic: () => clock.monotonic() + paused,
    after: (milliseconds, run) => clock.after(milliseconds, run),
  };
  const store: RouteBinds = {
    async leaseBind({ holder }) {
      asked.push(holder);
      return leased(holder);
    },
    async releaseBind({ holder }) {
      released.push(holder);
    },
  };
  limits = sharedRouteLimits({
    store,
    instances: { list: async () => others.map(instanceWith) },
    rateLimiter: {
      takePermits: async (_, __, wanted) => ({ granted: wanted, waitMs: 0, factor: 1 }),
      lowerRate: async () => 1,
    },
    clock: pausable,
    owner: 'o',
    report() {},
  });
  const route = routeTo(await smsc.listen(), { binds: 2 });
  desk = new SmppDesk([route], { clock, limits });
});
afterEach(async () => {
  await desk.stop();
  await smsc.close();
});

const capacity = () => desk.carrier.capacity('Mobicom');
const isUp = () => capacity() > 0;
const away: Leased = async () => {
  throw new Error('away');
};

describe('a bind', () => {
  it('is renewed under one name for each connection, and those of one instance come one after the other', async () => {
    await desk.start();
    expect(smsc.sockets.size).toBe(1);
    await desk.pass(() => smsc.sockets.size === 2);
    await desk.pass(() => clock.monotonic() >= 60_000);
    expect([...new Set(asked)].sort()).toEqual(['o.1', 'o.2']);
    expect(smsc.heard.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(2);
  });

  it('whose answer was lost is asked for again under the same name', async () => {
    leased = away;
    await desk.start();
    leased = () => true;
    await desk.pass(isUp);
    expect([...new Set(asked)].slice(0, 1)).toEqual(['o.1']);
  });

  it('that is given after a stop is given back, and nothing connects', async () => {
    let give = (_: boolean) => {};
    leased = () => new Promise<boolean>((resolve) => (give = resolve));
    const started = desk.start();
    await until(() => asked.length === 1);
    const stopped = desk.stop();
    give(true);
    await Promise.all([stopped, started]);
    expect(released).toEqual(['o.1']);
    expect(smsc.heard).toEqual([]);
  });

  it('that cannot be renewed begins nothing in its last 10 s, and is unbound before it is over', async () => {
    await desk.start();
    leased = away;
    const stale = await desk.pass(() => !isUp(), 100);
    expect(stale).toBeGreaterThan(5_000);
    expect(stale).toBeLessThanOrEqual(bindLeaseMs - 9_900);
    expect(smsc.sockets.size).toBe(1);
    expect(await desk.carrier.reserve?.('Mobicom', true)).toBeNull();
    const gone = await desk.pass(() => smsc.sockets.size === 0, 100);
    expect(stale + gone).toBeLessThan(bindLeaseMs);
    leased = () => true;
    await desk.pass(isUp);
  });

  it('that is renewed in its last 10 s goes on', async () => {
    await desk.start();
    leased = (holder) => (holder === 'o.1' ? Promise.reject(new Error('away')) : false);
    await desk.pass(() => !isUp(), 100);
    leased = (holder) => holder === 'o.1';
    await desk.pass(isUp, 100);
    expect(smsc.heard.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(1);
    expect(await desk.submit('m')).toMatchObject({ kind: 'accepted' });
  });

  it('that was given to another is unbound at once', async () => {
    await desk.start();
    leased = () => false;
    expect(await desk.pass(() => smsc.sockets.size === 0, 100)).toBeLessThanOrEqual(5_100);
  });

  it('of a process that was paused for longer submits nothing, though no timer has run yet', async () => {
    await desk.start();
    const reservation = await desk.carrier.reserve?.('Mobicom', true);
    paused = bindLeaseMs;
    expect(isUp()).toBe(false);
    expect(await reservation?.submit(submissionOf('m'), new AbortController().signal)).toMatchObject({
      kind: 'later',
      scope: 'lane',
    });
    reservation?.release();
    await until(() => smsc.heard.length >= 1);
    expect(smsc.heard.filter(({ command }) => command === 'submit_sm')).toEqual([]);
  });
});

describe('the binds that are taken', () => {
  it.each<[number, ConnectionState[], number]>([
    [2, [], 2],
    [2, ['bound'], 1],
    [2, ['down'], 1],
    [2, ['bound', 'bound', 'down'], 1],
    [3, ['bound'], 2],
    [3, ['down'], 2],
    [4, ['bound', 'bound'], 2],
    [4, ['bound', 'down'], 1],
  ])('of %i beside instances that are %j are %i', async (binds, states, expected) => {
    others = states;
    const route = { lane: 'Mobicom', mode: 'transceiver', binds };
    let taken = 0;
    for (let count = 0; count < 5; count += 1) {
      if (await limits.takeBind(route, () => {})) taken += 1;
      clock.advance(5_000);
    }
    expect(Math.min(taken, binds)).toBe(expected);
  });
});
