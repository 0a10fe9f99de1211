import { describe, expect, it, onTestFinished } from 'vitest';
import { openOutboxDatabase, sqliteOutbox } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { systemClock } from '../../../src/service/clock.js';
import { submissionOf } from '../../support/smpp.js';
import { delivered, outboxConformance } from './conformance/outbox.js';

describe('the outbox', () =>
  outboxConformance(async () => {
    const outbox = sqliteOutbox(await openOutboxDatabase(':memory:'), systemClock);
    onTestFinished(() => outbox.close());
    return [outbox, outbox];
  }));

it('the outbox looks for a recipient among the newest 30,000, if the newest come first', async () => {
  const outbox = sqliteOutbox(await openOutboxDatabase(':memory:'), systemClock);
  await outbox.deliver(submissionOf('old', { to: '88112233' }));
  const deliver = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) => outbox.deliver(submissionOf(`${from + index}`))),
    );
  const found = () => delivered(outbox, { to: '88112233', isNewestFirst: true });
  await deliver(0, 29_999);
  expect(await found()).toEqual(['old']);
  await deliver(29_999, 30_000);
  expect(await found()).toEqual([]);
  await outbox.close();
});
