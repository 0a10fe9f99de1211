import { describe, expect, it, onTestFinished, vi } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };
import type { Carrier } from '../../src/service/carriers/carrier.js';
import { ManualClock } from '../../src/service/clock.js';
import { Connections } from '../../src/service/heartbeat/connections.js';
import { Heartbeat } from '../../src/service/heartbeat/heartbeat.js';
import { createService, type Fault } from '../../src/service/index.js';
import type { Ended, Instance, Instances, LeftEnded } from '../../src/service/storage/instances.js';
import { Cores, requestsTo, ticks } from '../support/cores.js';

function beating({ isForOthers = false, slowed = '' } = {}) {
  const clock = new ManualClock();
  const capacities: Record<string, number> = { Mobicom: 10, Unitel: 0 };
  const written: Parameters<Instances['beat']>[0][] = [];
  const left: string[] = [];
  const others: Instance[] = [];
  const leftEnded: LeftEnded[] = [];
  const taken: Ended[] = [];
  const faults: unknown[] = [];
  let isAway = false;
  const instances: Instances = {
    async beat(one) {
      if (isAway) throw new Error('away');
      written.push(one);
    },
    list: async () => others,
    leave: async (id) => void left.push(id),
    leaveEnded: async () => {},
    listEnded: async () => [],
    takeEnded: async () => leftEnded.splice(0),
  };
  const carrier = (lanes: string[], rest: Partial<Carrier> = {}) =>
    ({ lanes, capacity: (lane: string) => capacities[lane] ?? 0, ...rest }) as Carrier;
  const heartbeat = new Heartbeat({
    instances,
    carriers: [
      carrier(['Mobicom', 'Unitel']),
      carrier(['email'], { kind: 'simulated' }),
      carrier(['unrouted'], { kind: 'retired' }),
    ],
    troublesOf: (lane) =>
      lane === slowed ? [{ project: null, state: 'throttled', forMs: 5, code: '0x58', words: '' }] : [],
    unreadOf: () => ({}),
    clock,
    owner: 'one',
    isForOthers,
    onTaken: (ended) => void taken.push(...ended),
    report: (error) => void faults.push(error),
  });
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await ticks();
  };
  return {
    heartbeat,
    capacities,
    written,
    others,
    leftEnded,
    taken,
    left,
    faults,
    pass,
    setAway: (is: boolean) => (isAway = is),
  };
}

const ended = (lane: string, code: string | null = null, rest: Partial<Ended> = {}): Ended => ({
  lane,
  channel: 'sms',
  status: code === null ? 'sent' : 'failed',
  isUnknown: false,
  code,
  count: 1,
  ...rest,
});

describe('a heartbeat', () => {
  it('says what slows a lane down', async () => {
    const { heartbeat, written } = beating({ slowed: 'Mobicom' });
    await heartbeat.begin('http://127.0.0.1:1');
    expect(written[0]?.carriers).toMatchObject([
      { lane: 'Mobicom', troubles: [{ state: 'throttled', code: '0x58' }] },
      { lane: 'Unitel' },
      { lane: 'email' },
    ]);
  });

  it('comes every 5 s while it listens, and not after it', async () => {
    const { heartbeat, written, left, pass } = beating();
    await heartbeat.begin(null);
    expect(written).toEqual([]);
    await heartbeat.begin('http://127.0.0.1:1');
    expect(written).toMatchObject([{ id: 'one', version: pkg.version, address: 'http://127.0.0.1:1' }]);
    await pass(4_999);
    expect(written).toHaveLength(1);
    await pass(1);
    await pass(5_000);
    expect(written).toHaveLength(3);
    await heartbeat.begin(null);
    await pass(20_000);
    expect(written).toHaveLength(3);
    expect(left).toEqual(['one']);
  });

  it('goes on without an address where it dispatches what others accept, one at a time', async () => {
    const { heartbeat, written, pass } = beating({ isForOthers: true });
    await Promise.all([heartbeat.begin(null), heartbeat.begin('a'), heartbeat.begin(null)]);
    written.length = 0;
    await pass(5_000);
    expect(written).toMatchObject([{ address: null }]);
  });

  it('says since when each lane is connected as it is', async () => {
    const { heartbeat, capacities, pass, written } = beating();
    await pass(3_000);
    await heartbeat.begin('a');
    capacities.Mobicom = 0;
    capacities.Unitel = 5;
    await pass(5_000);
    await pass(5_000);
    expect(written.map(({ carriers }) => carriers)).toEqual([
      [
        { lane: 'Mobicom', state: 'bound', forMs: 3_000 },
        { lane: 'Unitel', state: 'down', forMs: 3_000 },
        { lane: 'email', state: 'simulated', forMs: 3_000 },
      ],
      [
        { lane: 'Mobicom', state: 'down', forMs: 0 },
        { lane: 'Unitel', state: 'bound', forMs: 0 },
        { lane: 'email', state: 'simulated', forMs: 8_000 },
      ],
      [
        { lane: 'Mobicom', state: 'down', forMs: 5_000 },
        { lane: 'Unitel', state: 'bound', forMs: 5_000 },
        { lane: 'email', state: 'simulated', forMs: 13_000 },
      ],
    ]);
  });

  it('asks a carrier that may try while it is not connected', async () => {
    const clock = new ManualClock();
    let isConnected = true;
    const mail = {
      lanes: ['email'],
      capacity: () => 10,
      isConnected: () => isConnected,
    } as unknown as Carrier;
    const connections = new Connections([mail], clock);
    isConnected = false;
    clock.advance(3_000);
    expect(connections.look()).toEqual([{ lane: 'email', state: 'down', forMs: 0 }]);
    clock.advance(2_000);
    expect(connections.look()).toEqual([{ lane: 'email', state: 'down', forMs: 2_000 }]);
  });

  it('counts what has ended in the last minute', async () => {
    const { heartbeat, pass, written } = beating();
    heartbeat.count([ended('email')]);
    await heartbeat.begin('a');
    heartbeat.count([ended('email'), ended('sms', 'provider_failed')]);
    await pass(5_000);
    heartbeat.count([
      ended('sms', null, { isUnknown: true, count: 2 }),
      ended('sms', 'recipient_rate_limited'),
    ]);
    await pass(50_000);
    await pass(5_000);
    await pass(5_000);
    const one = { lane: 'email', sent: 1, unknown: 0, failed: 0, failures: {} };
    expect(written.map(({ lastMinute }) => lastMinute).slice(1, 4)).toEqual([
      [one, { lane: 'sms', sent: 0, unknown: 0, failed: 1, failures: { provider_failed: 1 } }],
      [
        one,
        {
          ...{ lane: 'sms', sent: 2, unknown: 2, failed: 2 },
          failures: { provider_failed: 1, recipient_rate_limited: 1 },
        },
      ],
      [{ lane: 'sms', sent: 2, unknown: 2, failed: 1, failures: { recipient_rate_limited: 1 } }],
    ]);
  });

  it('takes what ended in processes without one: each once, and into the last minute while it is recent', async () => {
    const { heartbeat, pass, written, leftEnded, taken } = beating();
    const recent = { ...ended('sms', 'provider_failed', { count: 3 }), forMs: 59_999 };
    const old = { ...ended('email'), forMs: 60_000 };
    leftEnded.push(recent, old);
    await heartbeat.begin('a');
    await pass(5_000);
    expect(taken).toEqual([recent, old]);
    const figures = [{ lane: 'sms', sent: 0, unknown: 0, failed: 3, failures: { provider_failed: 3 } }];
    expect(written.map(({ lastMinute }) => lastMinute)).toEqual([figures, figures]);
  });

  it('of another instance says whether a lane is connected there, or was 30 s ago', async () => {
    const { heartbeat, others } = beating();
    const other = (id: string, state: 'bound' | 'down', forMs = 0) =>
      ({ id, carriers: [{ lane: 'Mobicom', state, forMs }] }) as unknown as Instance;
    for (const [instances, isConnected] of [
      [[], false],
      [[other('one', 'bound')], false],
      [[other('two', 'down', 30_000)], false],
      [[other('two', 'down', 29_999)], true],
      [[other('three', 'down', 60_000), other('two', 'bound', 60_000)], true],
    ] as const) {
      others.splice(0, others.length, ...instances);
      expect(await heartbeat.isConnectedElsewhere('Mobicom')).toBe(isConnected);
      expect(await heartbeat.isConnectedElsewhere('Unitel')).toBe(false);
    }
  });

  it('that cannot be written is reported once for each outage, and goes on', async () => {
    const { heartbeat, pass, written, faults, setAway } = beating();
    setAway(true);
    await heartbeat.begin('a');
    await pass(5_000);
    expect(faults).toHaveLength(1);
    setAway(false);
    await pass(5_000);
    expect(written).toHaveLength(1);
    setAway(true);
    await pass(5_000);
    expect(faults).toHaveLength(2);
    await heartbeat.end();
  });
});

describe('a single SMS over a lane without a connection', () => {
  it('is 503 and not stored, unless another instance is connected', async () => {
    const cores = new Cores();
    onTestFinished(() => cores.closeAll());
    const down = (carriers: readonly Carrier[]) =>
      carriers.map((one): Carrier => ({ ...one, capacity: () => 0, isDown: () => true }));
    const core = await cores.open({ directory: cores.folder() }, { carriers: down });
    const { send } = requestsTo(() => core);
    await expect(send('99112233', 'hi', 'k')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 10 });
    expect(await core.store.hasDue()).toBe(false);
    const beat = { id: 'other', version: '1', address: null, lastMinute: [] };
    await core.storage.instances.beat({
      ...beat,
      carriers: [{ lane: 'sms', state: 'bound', forMs: 60_000 }],
    });
    void send('99112233', 'hi', 'k').catch(() => {});
    await vi.waitUntil(() => core.store.hasDue());
  });
});

describe('a service', () => {
  it('has an instance in its store while it listens', async () => {
    const cores = new Cores();
    const directory = cores.folder();
    onTestFinished(() => cores.closeAll());
    const faults: Fault[] = [];
    const service = await createService({ directory, report: (fault) => void faults.push(fault) });
    const { storage } = await cores.open({ directory });
    expect(await storage.instances.list()).toEqual([]);
    const listening = await service.listen({ port: 0 });
    const address = listening.url.replace(/\/v1$/, '');
    expect(await storage.instances.list()).toMatchObject([
      { address, carriers: [{ state: 'simulated' }, { state: 'simulated' }] },
    ]);
    await listening.close();
    expect(await storage.instances.list()).toEqual([]);
    await service.close();
    expect(faults).toEqual([]);
  });
});
