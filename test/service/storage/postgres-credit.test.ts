import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/service/clock.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { startProxy } from '../../support/postgres/proxy.js';
import { newDatabase } from '../../support/postgres.js';
import { project } from './conformance/fixture.js';

it.each(['before', 'after'] as const)(
  'a credit whose commit may be lost, %s it arrived, is made again, and is given once',
  async (when) => {
    const proxy = await startProxy(await newDatabase());
    const reported: unknown[] = [];
    const { store, close } = await openPostgresStorage({
      url: proxy.url,
      secret: new Uint8Array(32).fill(7),
      clock: systemClock,
      report: (error) => reported.push(error),
    });
    onTestFinished(async () => {
      await close();
      proxy.close();
    });
    await store.createProject(project);
    proxy.cutAt('moved', when);
    const about = { id: 'c1', note: 'refill' };
    expect(await store.credit(project.id, 5, about)).toBe(1_005);
    expect(proxy.cuts).toBeNull();
    expect(reported).toHaveLength(1);
    expect(await store.credit(project.id, 5, about)).toBe(1_005);
    expect(await store.listLedger(project.id)).toMatchObject([{}, { amount: 5, subjectId: 'c1' }]);
  },
);
