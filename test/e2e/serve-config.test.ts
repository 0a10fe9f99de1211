import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statuses } from '../../src/service/carriers/smpp/codec/commands.js';
import { Machine, outcomeOf, printed, root } from '../support/binary.js';
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
async function serving(use: (env: NodeJS.ProcessEnv) => Promise<void>, extra: NodeJS.ProcessEnv = {}) {
  const given = { env: { ...env, ...extra } };
  const { child, ended, client } = await machine.serve(['--config', file], given);
  await use(client);
  child.kill('SIGTERM');
  return ended;
}

const bulk = ['api', 'POST', '/v1/sms/bulk', '--json', '-f', 'text=Hi', '-F'];

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

  it('connects with TLS to a centre with a trusted certificate, and to no other', async () => {
    const key = join(root, 'test/fixtures/tls/key.pem');
    const cert = join(root, 'test/fixtures/tls/self-signed.pem');
    const secure = new Smsc({ tls: { key: readFileSync(key), cert: readFileSync(cert) } });
    const configuration = JSON.parse(readFileSync(file, 'utf8'));
    configuration.sms.routes[0].smpp = `smpp+tls://localhost:${await secure.listen()}`;
    writeFileSync(file, JSON.stringify(configuration));
    let client: NodeJS.ProcessEnv = {};
    const { stderr } = await serving(async (given) => {
      client = given;
    });
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'warning',
      stack: expect.stringContaining(
        'SMPP route Mobicom (transceiver) is not connected: self-signed certificate',
      ),
    });
    expect(secure.heard).toEqual([]);
    await serving(
      async ({ URTUU_BASE_URL }) => {
        const sent = await machine.run(['sms', 'send', '99112233', 'Сайн уу', '-o', 'ndjson'], {
          env: { ...client, URTUU_BASE_URL },
        });
        expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { status: 'sent' }]);
      },
      { NODE_EXTRA_CA_CERTS: cert },
    );
    expect(secure.heard[0]).toMatchObject({ command: 'bind_transceiver' });
    expect(secure.taken).toMatchObject([{ to: '99112233', text: 'Сайн уу' }]);
    await secure.close();
  });

  it('sends nothing to a centre whose certificate has expired, and says so', async () => {
    const key = join(root, 'test/fixtures/tls/key.pem');
    const cert = join(root, 'test/fixtures/tls/expired.pem');
    const ca = join(root, 'test/fixtures/tls/ca.pem');
    const secure = new Smsc({ tls: { key: readFileSync(key), cert: readFileSync(cert) } });
    const configuration = JSON.parse(readFileSync(file, 'utf8'));
    configuration.sms.routes[0].smpp = `smpp+tls://localhost:${await secure.listen()}`;
    writeFileSync(file, JSON.stringify(configuration));
    const trusting = { NODE_EXTRA_CA_CERTS: ca };
    const { stderr } = await serving(async (client) => {
      const accepted = await machine.run([...bulk, 'to=["99112233"]'], { env: client });
      expect(accepted.code).toBe(0);
      const [lane] = JSON.parse((await machine.run(['service', 'status', '--json'])).stdout);
      expect(lane).toMatchObject({ waiting: 1, sent: 0, failed: 0, instances: [{ state: 'down' }] });
    }, trusting);
    expect(stderr).toContain('not connected: certificate has expired');
    const checked = await machine.run(['service', 'check', '--config', file, '-o', 'ndjson'], {
      env: { ...env, ...trusting },
    });
    expect([checked.code, checked.stdout]).toEqual([5, expect.stringContaining('certificate has expired')]);
    expect(secure.heard).toEqual([]);
    await secure.close();
  });

  it('is checked without a message: urtuu service check', async () => {
    const check = (extra: NodeJS.ProcessEnv = {}) =>
      machine.run(['service', 'check', '--config', file, '-o', 'ndjson'], { env: { ...env, ...extra } });
    const found = ({ code, stdout }: { code: unknown; stdout: string }) => [
      code,
      ...stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ];
    const store = { check: 'store', address: join(machine.home, 'state/urtuu/service') };
    expect(found(await check())).toMatchObject([
      0,
      { ...store, status: 'new' },
      { check: 'Mobicom', address: expect.stringMatching(/^smpp:..127/), status: 'ok', problem: null },
    ]);
    expect(existsSync(store.address)).toBe(false);
    expect(smsc.heard.map(({ command }) => command)).toEqual(['bind_transceiver', 'unbind']);
    smsc.options.bindStatus = () => statuses.invalidPassword;
    expect(found(await check())).toMatchObject([
      5,
      { status: 'new' },
      { status: 'failed', problem: 'its operator refused the password (0x0e)' },
    ]);
    await smsc.close();
    expect(found(await check())).toMatchObject([
      5,
      { status: 'new' },
      { status: 'failed', problem: expect.stringContaining('ECONNREFUSED') },
    ]);
    expect((await check({ MOBICOM_PASSWORD: '' })).code).toBe(13);
  });

  it('shows an operator that is down as docs/operate.md says, and sends what waited once it is back', async () => {
    const port = Number(new URL(JSON.parse(readFileSync(file, 'utf8')).sms.routes[0].smpp).port);
    await smsc.close();
    const { stderr } = await serving(async (client) => {
      const { origin } = new URL(client.URTUU_BASE_URL ?? '');
      const ready = await fetch(`${origin}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([
        200,
        { status: 'ready', carriers: [{ lane: 'Mobicom', state: 'down', since: expect.any(String) }] },
      ]);
      const metrics = await (await fetch(`${origin}/metrics`)).text();
      expect(metrics).toContain('urtuu_carrier_connected{lane="Mobicom",state="down"} 0\n');
      const { id } = JSON.parse(
        (await machine.run([...bulk, 'to=["99112233","99112244"]'], { env: client })).stdout,
      );
      const lane = async () => JSON.parse((await machine.run(['service', 'status', '--json'])).stdout)[0];
      expect(await lane()).toMatchObject({ waiting: 2, sent: 0, failed: 0, instances: [{ state: 'down' }] });
      expect((await machine.run(['service', 'status'])).stdout).toMatch(/^Mobicom .* 0 of 1$/m);
      await smsc.listen(port);
      const waited = await machine.run(['batches', 'get', id, '--wait', '--json'], { env: client });
      expect([waited.code, JSON.parse(waited.stdout)]).toMatchObject([0, { sent: 2, failed: 0 }]);
    });
    const [warning = '', ...others] = stderr.trim().split('\n');
    expect(JSON.parse(warning).stack).toMatch(
      /^Error: SMPP route Mobicom \(transceiver\) is not connected: connect ECONNREFUSED/,
    );
    expect(others).toEqual([]);
  });

  it('marks its data for ever: nothing simulates it, nothing resets it', async () => {
    await serving(async () => {});
    const data = ['--data', join(machine.home, 'state/urtuu/service')];
    for (const [line, said] of [
      ['serve --port 0', 'sends over real carriers'],
      ['sandbox reset --yes', 'was served with real carriers; it is not a sandbox\n'],
      ['sandbox credit 5', 'it is not a sandbox\n  Use: urtuu service credit --help\n'],
    ] as const) {
      const { code, stdout, stderr } = await machine.run([...line.split(' '), ...data]);
      expect([line, code, stdout]).toEqual([line, 11, '']);
      expect(stderr).toContain(said);
    }
    // Its keys are still managed.
    expect((await machine.run(['keys', 'list', ...data])).code).toBe(0);
  });

  it('names the field that is wrong, ends with 13 and makes no data', async () => {
    const { code, stdout, stderr } = await machine.run(['serve', '--port', '0', '--config', file]);
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toContain(`${file}: sms.routes[0].password: the variable MOBICOM_PASSWORD is not set`);
    const page = /described in (\S+)/.exec(stderr)?.[1] ?? '';
    expect(readFileSync(page, 'utf8')).toMatch(/^# Carriers/);
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
    await printed(child, 'stderr', /Wrote the first API key/);
    child.kill('SIGTERM');
    expect((await ended).stderr).toContain(notes);
  });
});
