import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Core, openCore } from '../../../src/service/core.js';
import { ManualClock } from '../../../src/service/index.js';
import { caller, outboxOf, replayOf, requestsTo } from '../../support/cores.js';
import { fileFolder } from '../../support/folders.js';
import { contentOfDatabase, newDatabase, query } from '../../support/postgres.js';
import { run } from '../../support/run.js';
import { testSecret } from '../../support/test-engine.js';

const home = fileFolder();
beforeAll(() => {
  writeFileSync(join(home, 'urtuu.secret'), testSecret);
});

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
    await keepIncoming('leave me alone');
    await sendBulk(['99112233', '99112234'], 'an old campaign');
    await core.administration.idle();
    await core.close();
    core = await openCore({ ...where, report: () => {} });
    await send('99112233', 'new', 'key-2');
    await keepIncoming('stop it');
    await core.administration.idle();
  });
  afterEach(() => core.close());

  const keepIncoming = (text: string) =>
    core.store.keepIncoming({
      ...{ id: core.context.newId(), projectId: caller.projectId, channel: 'sms', subject: null },
      ...{ from: '99112233', to: '139911', text, fingerprint: null, part: null },
    });
  const recipients = async () => (await outboxOf(core)).map(({ to }) => to);

  it('loses recipients, texts and deliveries that are old, beside the running service', async () => {
    const { balance } = await core.operations.getBalance(caller);
    const { code, stdout } = await here('service prune --older-than 180d --yes --json');
    expect({ code, row: JSON.parse(stdout) }).toEqual({
      code: 0,
      row: { messages: 3, answers: 1, incoming: 1, suppressions: 0, kept: 0 },
    });
    expect(await recipients()).toEqual(['99112233']);
    expect((await core.administration.inbox()).data.map(({ text }) => text)).toEqual(['stop it']);
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
    expect(JSON.parse(again.stdout)).toEqual({
      messages: 0,
      answers: 0,
      incoming: 0,
      suppressions: 0,
      kept: 0,
    });
    const { data } = await core.operations.listBatches(caller, {}, { limit: 9, after: null });
    expect(data).toMatchObject([{ sent: 2, total: 2, pruned_at: expect.any(String) }]);
  });

  it('loses one person, whom the caps still count', async () => {
    await core.administration.settings.update({ caps: { per_24_hours: 2 }, suppressions: true });
    await send('99112233', 'new too', 'key-3');
    const { code, stdout } = await here('service prune --recipient +97699112233 --yes --json');
    expect({ code, row: JSON.parse(stdout) }).toEqual({
      code: 0,
      row: { messages: 4, answers: 3, incoming: 2, suppressions: 0, kept: 0 },
    });
    expect(await recipients()).toEqual(['99112234']);
    if ('database' in where) expect(await contentOfDatabase(where.database)).not.toMatch(/99112233|new too/);
    await expect(send('99112233', 'once more')).rejects.toMatchObject({ code: 'recipient_rate_limited' });
    expect(await replayOf(core, 'key-3')).toMatchObject({ replayed: true, body: { to: '', status: 'sent' } });
    expect(await here('service verify')).toMatchObject({ code: 0 });
    for (const one of ['99112233', '88112233'])
      expect(await here(`service prune --recipient ${one} --yes`)).toMatchObject({ code: 12, stdout: '' });
  });

  it.runIf(place === 'a folder')('is not found in the files any more', async () => {
    const { directory = '' } = where as { directory?: string };
    await here('service prune --recipient 99112233 --yes');
    await core.close();
    const files = ['service.db', 'operator.db'].map((name) => join(directory, name));
    for (const file of files) expect(readFileSync(file, 'latin1')).not.toMatch(/99112233|old and private/);
    expect(readFileSync(files[0] ?? '', 'latin1')).toContain('99112234');
  });

  it('keeps a suppression of a person who was erased', async () => {
    await core.administration.settings.update({ suppressions: true });
    await core.store.suppress(caller.projectId, '99112233', 'unknown_recipient');
    const { stdout } = await here('service prune --recipient 99112233 --yes --json');
    expect(JSON.parse(stdout)).toMatchObject({ suppressions: 1 });
    await expect(send('99112233', 'again')).rejects.toMatchObject({
      code: 'recipient_suppressed',
      fields: { reason: 'unknown_recipient' },
    });
    expect((await here('service suppressions list')).stdout).toContain('erased:');
    expect(await here('service suppressions remove 99112233')).toMatchObject({ code: 0 });
    expect(await send('99112233', 'again')).toMatchObject({ status: 200 });
  });

  it('says that it keeps messages that are newer', async () => {
    const line = 'service prune --recipient 99112233 --older-than 3d --yes --json';
    const { code, stdout, stderr } = await here(line);
    expect({ code, row: JSON.parse(stdout) }).toMatchObject({ code: 3, row: { messages: 2, kept: 1 } });
    expect(stderr).toContain('1 message to 99112233 kept');
    expect(await recipients()).toEqual(['99112234', '99112233']);
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
