import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Core, openCore } from '../../../src/service/core.js';
import { ManualClock } from '../../../src/service/index.js';
import { caller, outboxOf, replayOf, requestsTo } from '../../support/cores.js';
import { contentOfDatabase, newDatabase, query } from '../../support/postgres.js';
import { run } from '../../support/run.js';
import { testSecret } from '../../support/test-engine.js';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'urtuu-prune-'));
  writeFileSync(join(home, 'urtuu.secret'), testSecret);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const day = 86_400_000;

describe.each(['a folder', 'a database'])('the data in %s', (place) => {
  let where: { directory: string } | { database: string; secret: Uint8Array };
  let flags: string;
  let core: Core;
  const { send, sendBulk } = requestsTo(() => core);
  const here = (line: string) =>
    run(`${line} ${flags}`, {
      home,
      cwd: home,
      env: { URTUU_SECRET_FILE: 'urtuu.secret' },
      clock: { now: () => Date.now() },
    });

  /** Of two people, 200 days ago and today. */
  beforeEach(async () => {
    if (place === 'a folder') {
      const directory = join(mkdtempSync(join(home, 'data-')), 'service');
      where = { directory };
      flags = `--data ${directory}`;
    } else {
      const database = await newDatabase();
      where = { database, secret: testSecret };
      flags = `--database ${database}`;
    }
    core = await openCore({ ...where, clock: new ManualClock(Date.now() - 200 * day), report: () => {} });
    await send('99112233', 'old and private', 'key-1');
    await sendBulk(['99112233', '99112234'], 'an old campaign');
    await core.administration.settled();
    await core.close();
    core = await openCore({ ...where, report: () => {} });
    await send('99112233', 'new', 'key-2');
    await core.administration.settled();
  });
  afterEach(() => core.close());

  const recipients = async () => (await outboxOf(core)).map(({ to }) => to);

  it('loses recipients, texts and deliveries that are old, beside the running service', async () => {
    const { balance } = await core.operations.getBalance(caller);
    const { code, stdout } = await here('service prune --older-than 180d --yes --json');
    expect({ code, row: JSON.parse(stdout) }).toEqual({ code: 0, row: { messages: 3, answers: 1, kept: 0 } });
    expect(await recipients()).toEqual(['99112233']);
    expect((await core.operations.getBalance(caller)).balance).toBe(balance);
    const replay = await replayOf(core, 'key-1');
    expect(replay).toMatchObject({ status: 200, replayed: true, body: { to: '', status: 'sent' } });
    expect(await replayOf(core, 'key-2')).toMatchObject({ body: { to: '99112233' } });
    if ('database' in where) {
      expect(await contentOfDatabase(where.database)).not.toContain('private');
      expect(await query(where.database, 'SELECT 1 FROM batches WHERE pruned_at > 0')).toHaveLength(1);
    }
    expect(await here('service verify')).toMatchObject({ code: 0 });
    const again = await here('service prune --older-than 180d --yes --json');
    expect(JSON.parse(again.stdout)).toEqual({ messages: 0, answers: 0, kept: 0 });
  });

  it('loses one person, and says that newer messages are kept', async () => {
    const { code, stdout, stderr } = await here('service prune --recipient +97699112233 --yes --json');
    expect({ code, row: JSON.parse(stdout) }).toEqual({ code: 3, row: { messages: 2, answers: 1, kept: 1 } });
    expect(stderr).toContain('1 message to');
    expect(await recipients()).toEqual(['99112234', '99112233']);
    expect(await here('service prune --recipient 88112233 --yes')).toMatchObject({ code: 12, stdout: '' });
    expect(await here('service prune --recipient nobody --yes')).toMatchObject({ code: 8, stdout: '' });
  });

  it('stays as it is for less than two days, without an answer, and without a limit', async () => {
    for (const line of [
      'service prune --older-than 47h --yes',
      'service prune --yes',
      'service prune --older-than 180d',
    ])
      expect(await here(line)).toMatchObject({ code: 2, stdout: '' });
    await expect(core.administration.prune({ olderMs: day })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await recipients()).toHaveLength(4);
  });

  it('that does not add up is told with 3', async () => {
    if ('directory' in where) return;
    await query(where.database, 'UPDATE projects SET balance = balance + 1');
    const { code, stdout, stderr } = await here('service verify');
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringContaining('its ledger adds up to') });
    expect(stderr).toContain('1 mismatch');
  });
});
