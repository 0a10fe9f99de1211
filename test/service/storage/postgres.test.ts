import { beforeAll } from 'vitest';
import { type Clock, ManualClock } from '../../../src/service/clock.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { emptyDatabase, newDatabase, query } from '../../support/postgres.js';
import { admissionConformance } from './conformance/admission.js';
import { changesConformance } from './conformance/changes.js';
import type { Engine, Handle } from './conformance/engine.js';
import { rateLimiterConformance } from './conformance/rate-limiter.js';
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
admissionConformance(postgres);
changesConformance(postgres);
