import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, openAdministration } from '../../../../src/service/index.js';
import { Cores } from '../../../support/cores.js';
import { fileFolder } from '../../../support/folders.js';
import { newDatabase } from '../../../support/postgres.js';
import { run } from '../../../support/run.js';

const clock = new ManualClock();
const secret = new Uint8Array(32).fill(7);
const home = fileFolder();
const secretFile = join(home, 'urtuu.secret');
writeFileSync(secretFile, secret);
const cores = new Cores();
afterEach(() => cores.closeAll());

describe.each(['a folder', 'a database'])('a slow lane of a service in %s', (place) => {
  let flags: string;
  let shop: string;
  const here = (line: string) =>
    run(`${line} ${flags}`, {
      home,
      cwd: home,
      env: { URTUU_SECRET_FILE: secretFile },
      // What was lasting at a heartbeat has lasted on since.
      openAdministration: (options) => openAdministration({ clock, ...options }),
    });
  const rest = { version: '1.0.0', address: null, lastMinute: [] };
  const throttled = { project: null, state: 'throttled', forMs: 12_000, code: '0x58', words: '' } as const;

  /** Two instances see the lane throttled, one of them also a project that is not accepted. */
  beforeEach(async () => {
    const directory = join(mkdtempSync(join(home, 'data-')), 'service');
    const database = place === 'a folder' ? null : await newDatabase();
    flags = database === null ? `--data ${directory}` : `--database ${database}`;
    const core = await cores.open(database === null ? { directory, clock } : { database, secret, clock });
    shop = (await core.administration.createProject('shop')).id;
    const suspected = {
      project: shop,
      state: 'suspected',
      forMs: 200_000,
      code: '450 4.7.1',
      words: 'Sender rejected',
    } as const;
    const lane = { lane: 'Mobicom', state: 'bound', forMs: 60_000 } as const;
    const { instances } = core.storage;
    await instances.beat({
      ...rest,
      id: 'one',
      carriers: [{ ...lane, troubles: [throttled, suspected], unread: { state: 2 } }],
    });
    const elsewhere = { ...throttled, forMs: 20_000, code: '' };
    await instances.beat({
      ...rest,
      id: 'two',
      carriers: [{ ...lane, troubles: [elsewhere], unread: { state: 1, fields: 1 } }],
    });
    const receipt = {
      carrierId: 'c',
      to: '99112233',
      state: 'delivered',
      reference: '',
      submittedAt: null,
    } as const;
    await core.store.recordReceipts([{ ...receipt, route: 'Mobicom' }], () => ({ status: 200, body: '' }));
  });

  it('is beside what nobody could read or join, by reason, over all instances', async () => {
    const { stderr, stdout } = await here('service status --json');
    expect(stderr).toContain(
      'Receipts and replies of Mobicom that changed nothing: state 3, fields 1, unjoined 1.',
    );
    const lanes = JSON.parse(stdout) as { unread: object }[];
    expect(lanes.map(({ unread }) => unread)).toEqual([{ state: 3, fields: 1, unjoined: 1 }, {}, {}]);
  });

  it.each(['service status', 'service lanes list'])('is seen in %s', async (command) => {
    const { code, stdout, stderr } = await here(command);
    expect([code, stdout.includes('Mobicom')]).toEqual([0, true]);
    expect(stderr).toMatch(/Mobicom: throttled by its carrier for 20 s: 0x58\n/);
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      'Mobicom, project shop: nothing accepted by its carrier for 3 min: 450 4.7.1 Sender rejected',
    );
    const json = JSON.parse((await here(`${command} --json`)).stdout) as { lane: string; slow: object[] }[];
    expect(json.map(({ lane, slow }) => [lane, slow])).toEqual([
      ['Mobicom', expect.any(Array)],
      ['email', []],
      ['sms', []],
    ]);
    const since = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(json[0]?.slow).toEqual([
      { project: null, project_name: null, state: 'throttled', since, seconds: 20, code: '0x58', words: '' },
      {
        project: shop,
        project_name: 'shop',
        state: 'suspected',
        since,
        seconds: 200,
        code: '450 4.7.1',
        words: 'Sender rejected',
      },
    ]);
    const { stdout: csv } = await here(`${command} -o csv`);
    expect(csv).toContain(`lane throttled: 0x58; ${shop} suspected: 450 4.7.1 Sender rejected`);
  });
});
