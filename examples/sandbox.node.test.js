// Tests code that sends messages with node:test, without a socket and with a clock that the test moves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Urtuu } from 'urtuu';
import { ManualClock, startSandbox } from 'urtuu/sandbox';

let sandbox;
let urtuu;
before(async () => {
  sandbox = await startSandbox({ port: null, clock: new ManualClock() });
  urtuu = new Urtuu(sandbox.key, { baseUrl: sandbox.url, fetch: sandbox.fetch });
});
after(() => sandbox.close());

test('a verification code arrives and is good once', async () => {
  const { id } = await urtuu.verify.create({ to: '8811-2233' });
  const [{ text }] = await sandbox.outbox({ to: '88112233' });
  const [code] = /\d{6}/.exec(text);
  assert.equal((await urtuu.verify.check(id, { code })).status, 'verified');
  await assert.rejects(urtuu.verify.check(id, { code }), { code: 'verification_closed' });
});

test('a verification expires', async () => {
  const { id } = await urtuu.verify.create({ to: '8911-2233', expires_in: 60 });
  sandbox.clock.advance(60_000);
  assert.equal((await urtuu.verify.get(id)).status, 'expired');
});

test('a newsletter reaches everybody', async () => {
  const to = ['bat@example.mn', 'dorj@example.mn'];
  const { id } = await urtuu.email.sendBulk({ to, subject: 'Мэдээ', text: 'Сайн байна уу' });
  await sandbox.idle();
  const { status, sent } = await urtuu.batches.get(id);
  assert.deepEqual({ status, sent }, { status: 'completed', sent: 2 });
});
