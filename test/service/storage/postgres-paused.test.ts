import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/service/clock.js';
import {
  openPostgresStorage,
  type PostgresStorage,
} from '../../../src/service/storage/postgres/postgres-storage.js';
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.js';
import { newDatabase } from '../../support/postgres.js';
import { message, other, project, wholeKey } from './conformance/fixture.js';

const secret = new Uint8Array(32).fill(7);
const hash = (name: string) => new Uint8Array(Buffer.from(name));
let url: string;
let here: PostgresStorage;

beforeAll(async () => {
  url = await newDatabase();
  here = await openPostgresStorage({ url, secret, clock: systemClock, report() {} });
  for (const one of [project, other]) await here.store.createProject(one);
  return () => here.close();
});

/** Another process, over a proxy. */
async function elsewhere(): Promise<{ there: PostgresStorage; proxy: PostgresProxy }> {
  const proxy = await startProxy(url);
  const there = await openPostgresStorage({ url: proxy.url, secret, clock: systemClock, report() {} });
  await there.store.getProject(project.id);
  onTestFinished(async () => {
    await there.close();
    proxy.close();
  });
  return { there, proxy };
}

type Write = (storage: PostgresStorage) => Promise<unknown>;
const key = { id: 'k', projectId: project.id, hash: hash('k'), ...wholeKey };
const incoming = {
  ...{
    id: 'i',
    projectId: project.id,
    channel: 'sms' as const,
    from: '99112233',
    to: '139911',
    subject: null,
    text: 'a',
  },
  ...{ fingerprint: null, part: { reference: 'r', number: 1, total: 2 } },
} as const;
const beat = { id: 'b', version: '1', address: null, carriers: [], lastMinute: [] };

const transactions: [name: string, write: Write][] = [
  ['a new project', ({ store }) => store.createProject({ id: 'p3', name: 'Three', balance: 5 })],
  ['a new key', ({ store }) => store.addKey(key, 9)],
  ['the first key', ({ store }) => store.addFirstKey({ ...key, projectId: other.id })],
  ['a part of an incoming text', ({ store }) => store.keepIncoming(incoming)],
  ['a bind', ({ store }) => store.leaseBind({ route: 'r', binds: 1, holder: 'h', leaseMs: 1_000 })],
  ['the lanes', ({ store }) => store.recordLanes(['sms'])],
  [
    'a sign-in',
    ({ store }) => store.addSignInLink({ hash: hash('l'), projectId: project.id, lifeMs: 1_000 }),
  ],
  [
    'a session',
    async ({ store }) => {
      await here.store.addSignInLink({ hash: hash('m'), projectId: project.id, lifeMs: 60_000 });
      return store.openSession(hash('m'), { hash: hash('s'), lifeMs: 60_000 });
    },
  ],
  ['a heartbeat', ({ instances }) => instances.beat(beat)],
  [
    'a pruned answer',
    async ({ store }) => {
      const answer = () => ({ status: 200, body: '{}' });
      await here.store.acceptMessage(message({ idempotencyKey: 'pruned', answer }));
      return store.replaceAnswers([{ project: 1, key: 'pruned', body: '{"to":""}' }]);
    },
  ],
  [
    'a pruned inbox',
    async ({ store }) => {
      await here.store.keepIncoming({ ...incoming, id: 'old', part: null });
      return store.pruneInbox({ projectId: project.id, olderMs: null });
    },
  ],
  [
    'an erased suppression',
    async ({ store }) => {
      await here.store.suppress(project.id, '99112299', 'opt_out');
      return store.eraseSuppressed('99112299');
    },
  ],
  ['erased leftovers', ({ store }) => store.pruneLeftovers(null)],
];

it.each(transactions)(
  '%s of a process that is paused before its commit keeps no send waiting',
  async (_, write) => {
    const { there, proxy } = await elsewhere();
    const isPaused = new Promise<void>((resolve) => {
      proxy.cuts = (data) => {
        if (!data.includes('COMMIT')) return null;
        resolve();
        return 'pause';
      };
    });
    write(there).catch(() => {});
    await isPaused;
    const begun = performance.now();
    for (const { id } of [project, other])
      expect(await here.store.acceptMessage(message({ projectId: id }))).toMatchObject({ kind: 'accepted' });
    expect(performance.now() - begun).toBeLessThan(1_000);
  },
);

const statements: [name: string, write: Write][] = [
  ['a credit', ({ store }) => store.credit(project.id, 5)],
  ['a credit with an id', ({ store }) => store.credit(project.id, 5, { id: 'c', note: null })],
  ['settings', ({ store }) => store.changeSettings(project.id, () => '{"a":1}')],
  ['a new name', ({ store }) => store.renameProject(project.id, 'Shop')],
  ['a paused lane', ({ store }) => store.pauseLane('slow')],
  ['a stopped batch', ({ store }) => store.stopBatch('b', { code: 'c', message: 'm' })],
  ['a revoked key', ({ store }) => store.revokeKey(project.id, 'k')],
  ['the use of a key', ({ store }) => store.recordKeyUse('k')],
  ['a resumed lane', ({ store }) => store.resumeLane('slow')],
  ['a released bind', ({ store }) => store.releaseBind({ route: 'r', holder: 'h' })],
  [
    'a checked code',
    async ({ store }) => {
      const verification = { id: 'v', codeHash: hash('c'), attempts: 3, lifeMs: 60_000 };
      await here.store.acceptVerification({ ...message(), verification });
      return store.checkVerification(project.id, 'v', () => false);
    },
  ],
  ['a suppression', ({ store }) => store.suppress(project.id, 'a@b.mn', 'opt_out')],
  ['the end of a suppression', ({ store }) => store.removeSuppression(project.id, 'a@b.mn')],
  ['the end of a session', ({ store }) => store.endSession(hash('s'))],
  ['the end of all sessions', ({ store }) => store.endSignIns(null)],
  ['the address of the dashboard', ({ store }) => store.recordDashboard('http://a', null)],
  ['erased messages', ({ store }) => store.pruneMessages([{ seq: 1, id: 'm' }], '99112233')],
  ['the begin of a prune', ({ store }) => store.beginPruneRun(1_000)],
  ['the end of a prune', ({ store }) => store.endPruneRun()],
  ['the begin of a reset', ({ store }) => store.beginReset('o', 1)],
  ['the end of a reset', ({ store }) => store.endReset('o')],
  ['a hold', ({ store }) => store.hold('restored')],
  ['the end of a hold', ({ store }) => store.release()],
  ['an instance that leaves', ({ instances }) => instances.leave('b')],
  ['figures that are left', ({ instances }) => instances.leaveEnded([])],
  ['figures that are taken', ({ instances }) => instances.takeEnded()],
];

it.each(statements)('%s is one statement, committed by the database', async (_, write) => {
  const { there, proxy } = await elsewhere();
  let sent = '';
  proxy.cuts = (data) => {
    sent += data.toString('latin1');
    return null;
  };
  await write(there);
  expect(sent).toContain('urtuu.');
  expect(sent).not.toContain('BEGIN');
});
