import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/service/clock.js';
import type { Core } from '../../../src/service/core.js';
import { verify } from '../../../src/service/data/verify-data.js';
import type { Answer } from '../../../src/service/operations/operations.js';
import {
  Cores,
  caller,
  callerWith,
  ledgerDifference,
  outboxOf,
  replayOf,
  requestsTo,
} from '../../support/cores.js';
import { newDatabase, query } from '../../support/postgres.js';
import { testSecret } from '../../support/test-engine.js';

const fixture = join(import.meta.dirname, '../../fixtures/e5bfb29c');

/** How the release left the data, and what it answered. */
interface Left {
  at: number;
  keys: Record<'default' | 'sender' | 'reader' | 'revoked' | 'expired' | 'shop' | 'poor', string>;
  answers: Record<'default' | 'shop', Record<string, Answer>>;
  verifications: Record<'pending' | 'failed', string>;
  balance: number;
  messages: { id: string; status: string }[];
  batches: { id: string; status: string; total: number }[];
}

const read = (name: string) => gunzipSync(readFileSync(join(fixture, name))).toString();

const cores = new Cores();
afterAll(() => cores.closeAll());

async function folder() {
  const home = cores.folder();
  execFileSync('tar', ['xzf', join(fixture, 'state.tar.gz'), '-C', home, 'state/urtuu/service']);
  return { directory: join(home, 'state/urtuu/service') };
}

async function database() {
  const url = await newDatabase();
  await query(url, read('database.sql.gz'));
  return { database: url, secret: testSecret };
}

describe.each([
  { name: 'folder', open: folder },
  { name: 'database', open: database },
])('a $name of the release at e5bfb29c', ({ name, open }) => {
  const left = JSON.parse(read(`${name}.json.gz`)) as Left;
  // A minute after it died: its leases are over.
  const shift = left.at + 60_000 - Date.now();
  const clock = { ...systemClock, now: () => Date.now() + shift };
  let data: Awaited<ReturnType<typeof open>>;
  let core: Core;
  const { send } = requestsTo(() => core);

  beforeAll(async () => {
    data = await open();
    core = await cores.open({ ...data, clock });
  });

  it('is held only if it was restored from a dump', async () => {
    const held = await core.administration.held();
    expect(held?.reason ?? null).toBe(name === 'database' ? 'restored' : null);
    expect(await core.administration.release('queue')).toBe(held !== null);
  });

  it('repeats its answer to every idempotency key, in each project', async () => {
    for (const project of ['default', 'shop'] as const) {
      for (const [key, answer] of Object.entries(left.answers[project])) {
        const replay = await replayOf(core, key, left.keys[project]);
        expect({ key, ...replay }).toMatchObject({ key, ...answer });
      }
    }
  });

  it('shows the messages and batches that had ended as they were', async () => {
    const ended = ({ status }: { status: string }) => status !== 'queued' && status !== 'processing';
    for (const message of left.messages.filter(ended))
      expect(await core.operations.getMessage(caller, message.id)).toEqual({
        ...message,
        carrier_code: null,
      });
    for (const batch of left.batches.filter(ended))
      expect(await core.operations.getBatch(caller, batch.id)).toEqual(batch);
  });

  it('sends what it left, to each recipient once', async () => {
    await core.administration.setLaneStatus('email', 'open');
    await core.administration.idle();
    const got = (await outboxOf(core)).filter(({ to, text }) => text === 'Killed' || /^waits/.test(to));
    const slow = ['99000004', '99000005', '99000005'];
    const killed = Array.from({ length: 20 }, (_, index) => String(99_220_100 + index));
    const mails = ['waits1@example.mn', 'waits2@example.mn', 'waits3@example.mn'];
    expect(got.map(({ to }) => to).sort()).toEqual([...slow, ...killed, ...mails]);
    expect((await replayOf(core, 'sms-killed'))?.body).toMatchObject({ to: '99000005', status: 'sent' });
    expect(await ledgerDifference(core)).toBe(0);
  });

  it('has its keys, projects, settings, verifications, inbox and erasures', async () => {
    const { keys, verifications } = left;
    const known = await Promise.all(Object.values(keys).map((key) => callerWith(core, key)));
    expect(Object.keys(keys).filter((_, index) => known[index] === null)).toEqual(['revoked', 'expired']);
    expect((await core.administration.listKeys()).map(({ label, scope }) => `${label}: ${scope}`)).toEqual([
      ...['null: send,read', 'sender: send', 'reader: read', 'revoked: send,read', 'expired: send,read'],
    ]);
    expect((await core.administration.listProjects()).map(({ name }) => name)).toEqual([
      ...['Default', 'Shop', 'Poor'],
    ]);
    expect(await core.administration.settings.get()).toMatchObject({
      brand_name: 'Өртөө',
      list_unsubscribe: 'https://example.mn/u?to={to}',
      own_domain: { domain: 'shop.example.mn', selector: 'urtuu' },
      caps: { per_10_minutes: 4 },
      retention_days: 400,
    });
    for (const status of ['pending', 'failed'] as const)
      expect(await core.operations.getVerification(caller, verifications[status])).toMatchObject({ status });
    const { data: rows } = await core.administration.inbox();
    expect(rows.map(({ from, text }) => [from, text])).toEqual([['bold@example.mn', 'Thanks']]);
    expect(left.answers.default['sms-erased']?.body).toMatchObject({ to: '' });
  });

  it('sends anew, and adds up', async () => {
    expect(await send('99330000', 'A new send', 'new')).toMatchObject({ body: { status: 'sent' } });
    await core.close();
    const mismatches = [];
    for await (const one of await verify(data)) mismatches.push(one);
    expect(mismatches).toEqual([]);
    expect(cores.faults).toEqual([]);
  });
});
