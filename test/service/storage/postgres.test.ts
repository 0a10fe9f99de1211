import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type Clock, ManualClock } from '../../../src/service/clock.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { emptyDatabase, newDatabase, query } from '../../support/postgres.js';
import { admissionConformance } from './conformance/admission.js';
import { changesConformance } from './conformance/changes.js';
import type { Engine, Handle } from './conformance/engine.js';
import { message, project } from './conformance/fixture.js';
import { rateLimiterConformance } from './conformance/rate-limiter.js';
import { routeConformance } from './conformance/routes.js';
import { storeConformance } from './conformance/store.js';

const secret = new Uint8Array(32).fill(7);
let url: string;

beforeAll(async () => {
  url = await newDatabase();
  await (await openHandle(new ManualClock())).close();
});

async function openHandle(clock: Clock): Promise<Handle> {
  const storage = await openPostgresStorage({
    url,
    secret,
    clock,
    now: () => clock.now(),
    report(error) {
      throw error;
    },
  });
  return {
    ...storage,
    contents: () => query(url, 'SELECT text, encrypted FROM contents') as ReturnType<Handle['contents']>,
  };
}

const postgres: Engine = {
  name: 'PostgreSQL',
  ownsTime: false,
  async open(clocks) {
    await emptyDatabase(url);
    const handles: Handle[] = [];
    for (const clock of clocks) handles.push(await openHandle(clock));
    return handles;
  },
};

storeConformance(postgres);
rateLimiterConformance(postgres);
routeConformance(postgres);
admissionConformance(postgres);
changesConformance(postgres);

it('a change wakes other instances before their poll', async () => {
  await emptyDatabase(url);
  const clock = new ManualClock();
  const handles = [await openHandle(clock), await openHandle(clock)] as const;
  onTestFinished(async () => {
    for (const handle of handles) await handle.close();
  });
  await handles[0].store.createProject(project);
  let woken = 0;
  handles[1].changes.subscribe('due', () => (woken += 1));
  // Its clock stands still: it never polls. Until it listens it hears nothing.
  await vi.waitUntil(async () => {
    await handles[0].store.acceptMessage(
      message({ credits: 1, caps: [20, 80], to: `${woken}${Math.random()}` }),
    );
    return woken > 0;
  });
  expect(woken).toBeGreaterThan(0);
});

it('the messages of a recipient are on one page, however many others came since', async () => {
  await emptyDatabase(url);
  const { store, close } = await openHandle(new ManualClock());
  onTestFinished(close);
  await store.createProject(project);
  const accepted = await store.acceptMessage(message({ to: '99112233' }));
  await query(
    url,
    `INSERT INTO messages (id, project, content, channel, recipient, credits, created_at, counts_at, lane, bound_at)
     SELECT 'other-' || i, 1, 1, 'sms', 'other-' || i, 10, 0, 0, 'sms', 0 FROM generate_series(1, 30001) i`,
  );
  const filter = { to: '99112233', channel: null, status: null, delivery: null, batchId: null };
  const page = { limit: 10, after: null };
  const listed = await store.listMessages(project.id, { ...filter, since: null, until: null }, page);
  const id = accepted.kind === 'accepted' ? accepted.message.id : '';
  expect(listed).toMatchObject({ records: [{ id }], next: null });
});
