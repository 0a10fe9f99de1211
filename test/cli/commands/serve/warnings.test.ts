import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { warningsOf } from '../../../../src/service/index.js';
import { testFolder } from '../../../support/folders.js';
import { newDatabase } from '../../../support/postgres.js';
import { run } from '../../../support/run.js';
import { serveOnce } from '../../../support/serve-once.js';

const pem = (name: string) => join(import.meta.dirname, '../../../fixtures/tls', `${name}.pem`);

/** A configuration, its password in a file beside it. */
function configuration(
  channels: object,
  mode = 0o600,
): { file: string; environment: object } & { folder: string } {
  const folder = testFolder();
  writeFileSync(join(folder, 'password'), 'hunter2');
  chmodSync(join(folder, 'password'), mode);
  const file = join(folder, 'service.json');
  writeFileSync(file, JSON.stringify({ sms: 'off', email: 'off', ...channels }));
  return { file, environment: {}, folder };
}

const relay = (smtp: string, more: object = {}) => ({
  email: { smtp, from: 'no-reply@shop.mn', user: 'u', password: { file: 'password' }, ...more },
});
const operator = (smpp: string) => ({
  sms: {
    routes: [{ name: 'Mobicom', smpp, system_id: 'a', password: { file: 'password' }, prefixes: ['99'] }],
  },
});

const gateway = (http: string) => ({
  sms: {
    routes: [
      {
        name: 'Gate',
        http,
        tls: http.startsWith('http:') ? 'off' : undefined,
        basic: { user: 'u', password: { file: 'password' } },
        form: { to: '{number}', text: '{text}' },
        accepted: { status: [200] },
        prefixes: ['99'],
      },
    ],
  },
});

describe('what is sent in clear to another machine is warned of', () => {
  it.each([
    ['a relay without TLS', relay('smtp://10.0.0.5:25', { tls: 'off' }), 'email (smtp://10.0.0.5:25)'],
    ['a relay with STARTTLS', relay('smtp://10.0.0.5:587'), null],
    ['a relay with TLS', relay('smtps://10.0.0.5'), null],
    ['a relay on this machine', relay('smtp://127.0.0.1:25'), null],
    ['SMPP without TLS', operator('smpp://10.0.0.5:2775'), 'Mobicom (smpp://10.0.0.5:2775)'],
    ['SMPP with TLS', operator('smpp+tls://10.0.0.5:3550'), null],
    ['a gateway without TLS', gateway('http://10.0.0.5:8080/send'), 'Gate (http://10.0.0.5:8080)'],
    ['a gateway with TLS', gateway('https://10.0.0.5/send'), null],
    ['a gateway on this machine', gateway('http://localhost:8080/send'), null],
    ['SMPP on this machine', operator('smpp://[::1]:2775'), null],
  ])('%s', async (_, channels, expected) => {
    const warnings = await warningsOf({ configuration: configuration(channels) as never });
    expect(warnings).toEqual(
      expected === null ? [] : [expect.stringContaining(`Not encrypted: ${expected}.`)],
    );
  });

  it.each([
    ['postgres://urtuu@10.0.0.5/urtuu', 'PostgreSQL on 10.0.0.5 is not encrypted'],
    ['postgres://urtuu@10.0.0.5/urtuu?sslmode=require', null],
    ['postgres://urtuu@localhost/urtuu', null],
  ])('%s', async (database, expected) => {
    expect(await warningsOf({ database })).toEqual(
      expected === null ? [] : [expect.stringContaining(expected)],
    );
  });

  it('also by urtuu service check', async () => {
    const { file } = configuration(relay('smtp://10.0.0.5:1', { tls: 'off' }), 0o644);
    const { stderr } = await run(`service check --config ${file} --data ${testFolder()}`);
    expect(stderr).toContain('Not encrypted: email (smtp://10.0.0.5:1)');
    expect(stderr).toContain('password can be read by others on this machine. Run: chmod 600');
  });
});

describe.skipIf(process.platform === 'win32')('a file with a secret that others can use', () => {
  const starts = {
    '--tls-key': async (mode: number) => {
      const key = join(testFolder(), 'key.pem');
      copyFileSync(pem('key'), key);
      chmodSync(key, mode);
      return serveOnce(`--data ${testFolder()} --tls-cert ${pem('self-signed')} --tls-key ${key}`);
    },
    URTUU_SECRET_FILE: async (mode: number) => {
      const secret = join(testFolder(), 'secret');
      writeFileSync(secret, new Uint8Array(32).fill(7));
      chmodSync(secret, mode);
      return serveOnce(`--database ${await newDatabase()}`, { URTUU_SECRET_FILE: secret });
    },
    'a password of the configuration': async (mode: number) =>
      serveOnce(`--data ${testFolder()} --config ${configuration(relay('smtp://127.0.0.1:1'), mode).file}`),
  };

  it.each(Object.entries(starts))(
    '%s: warned of if they can read it, refused if they can change it',
    async (_, start) => {
      expect((await start(0o600)).stderr).not.toContain('on this machine. Run');
      const readable = await start(0o644);
      const said = readable.stderr.replace(/\s+/g, ' ');
      expect(readable.code).toBe('SIGTERM');
      expect(said).toMatch(/can be read by others on this machine\. Run: chmod 600 \/\S+/);
      const writable = await start(0o666);
      expect(writable.code).toBe(13);
      expect(writable.stderr).toContain('can be changed by others on this machine');
      expect(writable.stderr).toContain('chmod 600');
    },
  );
});
