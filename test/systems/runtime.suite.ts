import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { built, Machine, outcomeOf } from './machine.js';
import { ResettingServer } from './resetting-server.js';
import { TestService } from './service.js';

let machine: Machine;
let service: TestService;
let resetting: ResettingServer;
before(async () => {
  service = await TestService.start();
});
after(() => service.close());
beforeEach(async () => {
  machine = new Machine();
  resetting = await ResettingServer.start();
});
afterEach(() => {
  resetting.close();
  machine.remove();
});

/** What a program prints that this runtime runs with the client. */
async function program(name: string, client: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = machine.script([built(`test/systems/${name}`), built(client)], env);
  const { code, stdout, stderr } = await outcomeOf(child);
  assert.equal(code, 0, stderr);
  return stdout;
}

for (const client of ['dist/client/index.js', 'dist/client/index.cjs']) {
  describe(`the client, ${client}`, () => {
    it('sends, reads and tells its errors', async () => {
      const told = JSON.parse(await program('client-program.mjs', client, service.env));
      assert.equal(typeof told.balance.value.balance, 'number');
      assert.equal(told.sms.value.status, 'sent');
      assert.equal(told.bulk.value.total, 2);
      assert.equal(told.email.value.to, 'bat@example.mn');
      assert.deepEqual(told.invalid, { code: 'invalid_request', status: 400 });
      assert.deepEqual(told.missing, { code: 'not_found', status: 404 });
      assert.equal(told.verify.value.status, 'pending');
    });

    it('asks for a code once, where the connection that was kept is reset', async () => {
      const code = await program('verify-program.mjs', client, resetting.env);
      assert.deepEqual([code.trim(), resetting.posts], ['connection_error', ['/v1/verify']]);
    });
  });
}

describe('the command', () => {
  const said = async (args: string[], code = 0, env: NodeJS.ProcessEnv = service.env) => {
    const outcome = await machine.run(args, env);
    assert.equal(outcome.code, code, `${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
    return outcome.stdout;
  };

  it('sends single messages and looks them up', async () => {
    const sent = JSON.parse(await said(['sms', 'send', '88001122', 'Сайн уу', '--json']));
    assert.equal(JSON.parse(await said(['messages', 'get', sent.id, '--json'])).status, 'sent');
    await said(['email', 'send', 'bat@example.mn', '--subject', 's', '--text', 't']);
    const { id } = JSON.parse(await said(['verify', 'create', '88001133', '--json']));
    await said(['verify', 'check', id, '0000'], 10);
    await said(['balance', '--min', '99999999'], 7);
    await said(['sms', 'send', 'nobody', 'hi'], 8);
    await said(['balance'], 4, { ...service.env, URTUU_API_KEY: 'wrong' });
  });

  it('reports a bad row with a line separator in it', async () => {
    writeFileSync(join(machine.home, 'list.csv'), 'phone\n"9\u20288"\n');
    await said(['sms', 'bulk', 'list.csv', '--text', 'hi', '--dry-run'], 8);
  });

  it('asks for a code once more after a 429, and not by itself when that connection is reset', async () => {
    resetting.limited = 1;
    await said(['verify', 'create', '88001122'], 6, resetting.env);
    assert.deepEqual(resetting.posts, ['/v1/verify', '/v1/verify']);
  });
});
