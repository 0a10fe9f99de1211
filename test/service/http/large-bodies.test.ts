import { expect, it } from 'vitest';
import { fakeOperations, goodKey, openApp } from './fake-operations.js';

const headers = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' };
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${88_000_000 + index}`);

it('answers one large batch in a tick of the event loop, and accepts connections between', async () => {
  const { operations, calls } = fakeOperations();
  const { exchange } = openApp(operations);
  let tick = 0;
  const ticks: number[] = [];
  let isOver = false;
  const count = () => {
    tick += 1;
    while (ticks.length < calls.length) ticks.push(tick);
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const post = (url: string, fields: object) =>
    exchange({ method: 'POST', url, headers, body: JSON.stringify({ text: 'Hi', ...fields }) });
  const sms = [1_000, 1_000, 600, 600, 100].map((many) => post('/v1/sms/bulk', { to: numbers(many) }));
  const email = [700, 10].map((many) => {
    const to = numbers(many).map((number) => `${number}@example.mn`);
    return post('/v1/email/bulk', { to, subject: 'Hi' });
  });
  const html = 'x'.repeat(100_000);
  const singles = [
    post('/v1/sms', { to: '99112233' }),
    post('/v1/email', { to: 'bat@example.mn', subject: 'Hi', html }),
  ];
  const answers = await Promise.all([...sms, ...email, ...singles]);
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  expect(answers.map(({ status }) => status)).toEqual([...Array(7).fill(202), 200, 202]);
  const countOf = ([, params]: (typeof calls)[number]) =>
    [(params as { to: string | string[] }).to].flat().length;
  // Small batches wait for nobody, nor does any single message.
  expect(calls.map(countOf)).toEqual([100, 10, 1, 1, 1_000, 1_000, 600, 600, 700]);
  const begun = [...new Set(ticks)];
  expect(ticks.map((at) => begun.indexOf(at))).toEqual([0, 0, 0, 0, 1, 2, 3, 4, 5]);
  for (const [index, at] of begun.slice(2).entries())
    expect(at - (begun[index + 1] ?? 0)).toBeGreaterThanOrEqual(8);
});
