// Tests code that sends messages against a service of its own, with vitest.
import { Urtuu } from 'urtuu';
import { startSandbox } from 'urtuu/sandbox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

/** The code under test. */
function welcome(urtuu, number) {
  return urtuu.sms.send({ to: number, text: 'Тавтай морил!' }, { idempotencyKey: `welcome-${number}` });
}

let sandbox;
let urtuu;
beforeAll(async () => {
  sandbox = await startSandbox();
  urtuu = new Urtuu(sandbox.key, { baseUrl: sandbox.url });
});
beforeEach(() => sandbox.reset());
afterAll(() => sandbox.close());

test('welcomes a customer once', async () => {
  await welcome(urtuu, '9911-2233');
  await welcome(urtuu, '9911-2233');
  expect(await sandbox.outbox()).toMatchObject([{ to: '99112233', text: 'Тавтай морил!' }]);
});

test('reports a number that the operator rejects', async () => {
  await expect(welcome(urtuu, '99000001')).rejects.toMatchObject({ code: 'provider_failed', status: 502 });
});

test('reports that the credits are used up', async () => {
  await sandbox.credit(-100_000);
  await expect(welcome(urtuu, '9911-2233')).rejects.toMatchObject({
    code: 'insufficient_credits',
    balance: 0,
  });
});
