import { afterEach, expect, it } from 'vitest';
import { Cores, caller, requestsTo } from '../../support/cores.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

it('prepares at most 1,000 recipients of batches that arrive together in one turn of the event loop', async () => {
  let turn = 0;
  const prepared: number[] = [];
  const core = await cores.open(
    {},
    {
      store: (store) => ({
        ...store,
        acceptBatch(batch) {
          prepared.push(turn);
          return store.acceptBatch(batch);
        },
      }),
    },
  );
  const { sendBulk } = requestsTo(() => core);
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const numbers = (batch: number, count: number) =>
    Array.from({ length: count }, (_, index) => `${88_000_000 + batch * 1_000 + index}`);
  const sms = [1_000, 1_000, 400, 300, 300].map((count, batch) => sendBulk(numbers(batch, count), 'Hi'));
  const email = [700, 1].map((count, batch) => {
    const to = Array.from({ length: count }, (_, index) => `a${batch}-${index}@example.mn`);
    const params = { to, subject: 'Hi', text: 'Hi' };
    return core.operations.sendEmailBulk({ caller, params, idempotencyKey: null });
  });
  const answers = await Promise.all([...sms, ...email]);
  isOver = true;
  expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(202));
  const turns = [...new Set(prepared)];
  expect(prepared.map((at) => turns.indexOf(at))).toEqual([0, 1, 2, 2, 2, 3, 3]);
});
