import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine, outcomeOf, printed } from '../support/binary.js';
import { Smsc } from '../support/smsc.js';

let machine: Machine;
let smsc: Smsc;
let file: string;

beforeEach(async () => {
  machine = new Machine();
  smsc = new Smsc();
  const port = await smsc.listen();
  file = join(machine.home, 'service.json');
  const route = {
    name: 'Mobicom',
    smpp: `smpp://127.0.0.1:${port}`,
    system_id: 'urtuu',
    password: { env: 'MOBICOM_PASSWORD' },
    prefixes: ['99'],
  };
  writeFileSync(file, JSON.stringify({ email: 'off', sms: { routes: [route] } }));
});
afterEach(async () => {
  await smsc.close();
  machine.remove();
});

const env = { MOBICOM_PASSWORD: 'secret' };

/** Serves with the configuration while `use` runs: its outcome. */
async function serving(use: (env: NodeJS.ProcessEnv) => Promise<void>) {
  const child = machine.start(['serve', '--port', '0', '--config', file, '-o', 'ndjson'], { env });
  const ended = outcomeOf(child);
  const { base_url, api_key } = JSON.parse(await printed(child, 'stdout', /\n/));
  await use({ URTUU_BASE_URL: base_url, URTUU_API_KEY: api_key });
  child.kill('SIGTERM');
  return ended;
}

describe('urtuu serve --config', () => {
  it('sends over the route, and says what it does not do', async () => {
    const { stderr } = await serving(async (client) => {
      const sent = await machine.run(['sms', 'send', '99112233', 'Сайн уу', '-o', 'ndjson'], { env: client });
      expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { status: 'sent', to: '99112233' }]);
      const other = await machine.run(['sms', 'send', '88112233', 'Hi'], { env: client });
      expect([other.code, other.stderr]).toEqual([8, expect.stringContaining('operator')]);
      const email = await machine.run(
        ['email', 'send', 'a@b.mn', '--subject', 's', '--text', 't', '--max-retries', '0'],
        { env: client },
      );
      expect(email.stderr).toContain('Email is off');
    });
    expect(smsc.taken).toMatchObject([{ to: '99112233', text: 'Сайн уу' }]);
    expect(smsc.heard[0]?.fields).toMatchObject({ system_id: 'urtuu', password: 'secret' });
    expect(smsc.heard.at(-1)?.command).toBe('unbind');
    expect(stderr).toBe('');
  });

  it('marks its data for ever: nothing simulates it, nothing resets it', async () => {
    await serving(async () => {});
    const data = ['--data', join(machine.home, 'state/urtuu/service')];
    for (const line of ['serve --port 0', 'sandbox reset --yes', 'sandbox credit 5']) {
      const { code, stdout, stderr } = await machine.run([...line.split(' '), ...data]);
      expect([line, code, stdout]).toEqual([line, 11, '']);
      expect(stderr).toContain('real carriers');
    }
    // Its keys are still managed.
    expect((await machine.run(['keys', 'list', ...data])).code).toBe(0);
  });

  it('names the field that is wrong, ends with 13 and makes no data', async () => {
    const { code, stdout, stderr } = await machine.run(['serve', '--port', '0', '--config', file]);
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toContain(`${file}: sms.routes[0].password: the variable MOBICOM_PASSWORD is not set`);
    const data = await machine.run(['keys', 'list', '--data', join(machine.home, 'state/urtuu/service')]);
    expect(data.code).toBe(12);
  });

  it.each([
    [[], 'No message leaves this machine: the operators are simulated.'],
    [['--config'], "Email is off.\nThe routes' prefixes replace the operators in the settings of projects."],
  ])('with %j says where messages go', async (option, notes) => {
    const args = ['serve', '--port', '0', ...option.flatMap((name) => [name, file])];
    const child = machine.start(args, { env });
    const ended = outcomeOf(child);
    await printed(child, 'stderr', /Save the key/);
    child.kill('SIGTERM');
    expect((await ended).stderr).toContain(notes);
  });
});
