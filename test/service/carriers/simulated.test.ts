import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type SimulatedCarrier,
  simulatedCarrier,
} from '../../../src/service/carriers/simulated/simulated.js';
import { openOutboxDatabase, sqliteOutbox } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { ManualClock } from '../../../src/service/clock.js';
import { testFolder } from '../../support/folders.js';
import { carrierConformance } from './conformance/carrier.js';

carrierConformance({
  name: 'simulated, on SQLite',
  canInquire: true,
  async open(handles) {
    const folder = testFolder();
    const clock = new ManualClock();
    const carriers: SimulatedCarrier[] = [];
    for (let handle = 0; handle < handles; handle += 1) {
      const database = await openOutboxDatabase(join(folder, 'operator.db'));
      carriers.push(simulatedCarrier(sqliteOutbox(database, clock), clock));
    }
    return {
      carriers,
      submission: { channel: 'sms', route: 'Mobicom', to: '99112233', text: 'Hi' },
      async taken() {
        const references: string[] = [];
        for await (const { messageId } of carriers[0]?.outbox.read({}) ?? []) references.push(messageId);
        return references;
      },
      async close() {
        await Promise.all(carriers.map((carrier) => carrier.outbox.close()));
      },
    };
  },
});

it('hands in the receipt of a submission that is under way when it stops', async () => {
  const folder = testFolder();
  const clock = new ManualClock();
  const carrier = simulatedCarrier(
    sqliteOutbox(await openOutboxDatabase(join(folder, 'operator.db')), clock),
    clock,
  );
  const states: string[] = [];
  await carrier.start(async ({ state }) => void states.push(state));
  const content = { text: 'Hi', subject: null, html: null, from: null, replyTo: null };
  const submitted = carrier.submit(
    { reference: 'm-1', attempt: 1, channel: 'sms', route: 'Mobicom', to: '99000022', ...content },
    new AbortController().signal,
  );
  await carrier.stop();
  await submitted;
  expect(states).toEqual(['undelivered']);
  await carrier.outbox.close();
});
