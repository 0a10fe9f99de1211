import { openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Core, openCore } from '../../src/service/core.js';
import { loadEngine } from '../../src/service/storage/sqlite/database/engine.js';
import { type Mismatch, verify } from '../../src/service/verify-data.js';
import { Cores, caller, requestsTo } from '../support/cores.js';
import { emptyDatabase, newDatabase, query } from '../support/postgres.js';
import { testSecret } from '../support/test-engine.js';

const cores = new Cores();
afterAll(() => cores.closeAll());

let core: Core;
const { send, sendBulk } = requestsTo(() => core);
let database: string | undefined;

async function mismatchesIn(data: Parameters<typeof verify>[0]): Promise<Mismatch[]> {
  const found: Mismatch[] = [];
  for await (const one of await verify(data)) found.push(one);
  return found;
}

interface Place {
  data: Parameters<typeof verify>[0];
  damage(sql: string): Promise<unknown>;
}

async function folder(): Promise<Place & { directory: string }> {
  const directory = join(cores.folder(), 'data');
  const { DatabaseSync } = await loadEngine();
  const damage = async (sql: string) => {
    const store = new DatabaseSync(join(directory, 'service.db'));
    store.exec('PRAGMA foreign_keys = OFF');
    store.prepare('ATTACH ? AS operator').run(join(directory, 'operator.db'));
    store.exec(sql);
    store.close();
  };
  return { directory, data: { directory }, damage };
}

async function onDatabase(): Promise<Place> {
  database ??= await newDatabase();
  await emptyDatabase(database);
  const url = database;
  return { data: { database: url, secret: testSecret }, damage: (sql) => query(url, sql) };
}

/** A message, a batch, a verification and a message that waits, each with an answer where it has one. */
async function fill(place: Place): Promise<void> {
  core = await openCore({ ...place.data, report: () => {} });
  await send('99112233', 'Hi', 'key-1');
  await send('99000001', 'Hi', 'key-2');
  await sendBulk(['99112234', '99112235'], 'Hi');
  await core.operations.createVerification(caller, { to: '99112236' });
  await core.administration.settled();
  await core.close();
  core = await openCore({ ...place.data, report: () => {} }, { carriers: () => [] });
  const params = { to: 'bat@example.mn', subject: 's', text: 't' };
  await core.operations.sendEmail({ caller, params, idempotencyKey: 'key-3' });
}

/** Here and below for a day: the service that runs ends one that is over. */
const leaseOf = (messages: string) => `INSERT INTO leases (token, until, length, messages)
  VALUES ('lost', extract(epoch FROM now()) * 1000 + 86400000, 86400000, '${messages}')`;

const cases: [
  string,
  Partial<Record<'folder' | 'database', string>> & { both?: string },
  Partial<Mismatch>,
][] = [
  [
    'a ledger entry that is gone',
    { both: "DELETE FROM ledger WHERE reason = 'batch'" },
    { check: 'ledger', problem: expect.stringMatching(/^the balance is \d+, its ledger adds up to \d+$/) },
  ],
  ['a balance that is off by 1', { both: 'UPDATE projects SET balance = balance + 1' }, { check: 'ledger' }],
  [
    'the count of a batch',
    { both: 'UPDATE batches SET sent = sent - 1' },
    {
      check: 'batch',
      problem: 'it counts 1 sent and 0 failed of 2, its messages are 2 and 0 of 2',
    },
  ],
  [
    'a message of a batch that is gone',
    { both: "DELETE FROM messages WHERE recipient LIKE '%99112234'" },
    { check: 'batch' },
  ],
  [
    'a delivery that was made twice',
    {
      folder: `INSERT INTO operator.deliveries (reference, channel, recipient, route, delivered_at)
        SELECT reference, channel, recipient, route, delivered_at FROM operator.deliveries LIMIT 1`,
      database: `INSERT INTO deliveries (reference, channel, recipient, route, delivered_at)
        SELECT reference, channel, recipient, route, delivered_at FROM deliveries LIMIT 1`,
    },
    { check: 'outbox', problem: 'it was delivered 2 times' },
  ],
  [
    'a lease without its messages',
    {
      folder: `INSERT INTO leases (token, until, length, first_message, last_message, open)
          VALUES ('reset:x', unixepoch() * 1000 + 86400000, 86400000, 1, 1, 1);
        UPDATE leases SET token = 'lost'`,
      database: leaseOf('{1}'),
    },
    { check: 'lease', subject: 'lost' },
  ],
  [
    'a message that nothing would send',
    { folder: 'UPDATE messages SET due_at = NULL', database: 'DELETE FROM queue' },
    { check: 'lease', problem: 'it waits for nothing, and would never be sent' },
  ],
  [
    'a message without its content',
    {
      both: "DELETE FROM contents WHERE seq = (SELECT content FROM messages WHERE recipient = 'bat@example.mn')",
    },
    { check: 'content' },
  ],
  [
    'an answer without its message',
    { both: "DELETE FROM messages WHERE recipient LIKE '%99112233'" },
    { check: 'answer', subject: 'key-1' },
  ],
  [
    'an answer without its failed message',
    { both: "DELETE FROM messages WHERE recipient LIKE '%99000001'" },
    { check: 'answer', subject: 'key-2' },
  ],
  [
    'a key that waits for a message that is gone',
    { both: "INSERT INTO idempotency (project, key) SELECT seq, 'key-4' FROM projects" },
    { check: 'answer', subject: 'key-4', problem: 'it waits for a message that is missing' },
  ],
  [
    'a verification without its message',
    { both: "DELETE FROM messages WHERE recipient LIKE '%99112236'" },
    { check: 'answer', problem: 'its message is missing' },
  ],
  [
    'a content that is gone from a message that was not pruned',
    { both: "UPDATE messages SET content = 0 WHERE recipient LIKE '%99112233'" },
    { check: 'content' },
  ],
  [
    'a message without its batch',
    { both: "DELETE FROM batches; DELETE FROM messages WHERE recipient LIKE '%99112234'" },
    { check: 'batch', problem: 'its batch is missing' },
  ],
  [
    'a lease that counts nothing',
    {
      folder: `INSERT INTO leases (token, until, length, first_message, last_message, open, holder)
        VALUES ('lost', unixepoch() * 1000 + 86400000, 86400000, 1, 1, 0, 'x')`,
      database: leaseOf('{}'),
    },
    { check: 'lease', subject: 'lost' },
  ],
];

describe.each(['folder', 'database'] as const)('verify in a %s', (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await (kind === 'folder' ? folder() : onDatabase());
    await fill(place);
  });
  afterEach(() => core.close());

  it('finds nothing where everything adds up', async () => {
    expect(await mismatchesIn(place.data)).toEqual([]);
  });

  it.each(cases)('finds %s, and nothing else', async (_, { both, ...damages }, mismatch) => {
    await place.damage(both ?? damages[kind] ?? '');
    expect(await mismatchesIn(place.data)).toEqual([expect.objectContaining(mismatch)]);
  });

  it('finds another installation', async () => {
    if (!('directory' in place.data)) {
      const data = { ...place.data, secret: new Uint8Array(32).fill(9) };
      expect(await mismatchesIn(data)).toMatchObject([{ check: 'files' }]);
      return;
    }
    await place.damage("UPDATE operator.installation SET id = 'foreign'");
    expect(await mismatchesIn(place.data)).toEqual([
      {
        check: 'files',
        subject: place.data.directory,
        problem: 'operator.db does not belong to service.db',
      },
    ]);
  });

  it('finds nothing while messages are sent', async () => {
    await core.close();
    core = await openCore({ ...place.data, report: () => {} });
    const sends: Promise<unknown>[] = [];
    for (let round = 0; round < 5; round += 1) {
      sends.push(
        sendBulk(
          Array.from({ length: 300 }, (_, n) => `9${round}22${1000 + n}`),
          'Hi',
        ),
      );
      for (let n = 0; n < 10; n += 1) sends.push(send(`88${round}2${1000 + n}`, 'Hi', `k-${round}-${n}`));
      expect(await mismatchesIn(place.data)).toEqual([]);
    }
    await Promise.all(sends);
    expect(await mismatchesIn(place.data)).toEqual([]);
  });
});

describe('verify of files', () => {
  let place: Awaited<ReturnType<typeof folder>>;
  beforeEach(async () => {
    place = await folder();
    await fill(place);
    await core.close();
    const { DatabaseSync } = await loadEngine();
    for (const name of ['service.db', 'operator.db']) {
      const database = new DatabaseSync(join(place.directory, name));
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    }
  });
  const at = (name: string) => join(place.directory, name);

  it.each(['service.db', 'operator.db'])('finds a flipped page in %s', async (name) => {
    const { size } = statSync(at(name));
    const file = openSync(at(name), 'r+');
    writeSync(file, Buffer.alloc(64, 0xa5), 0, 64, size - 4_096);
    expect(await mismatchesIn(place.data)).toContainEqual(
      expect.objectContaining({ check: 'integrity', subject: name }),
    );
  });

  it('finds a row that an index lacks', async () => {
    const { DatabaseSync } = await loadEngine();
    const store = new DatabaseSync(at('service.db'), { readOnly: true });
    const { rootpage } = store
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'messages_project'")
      .get() as { rootpage: number };
    store.close();
    // The page counts one entry less.
    const count = (rootpage - 1) * 4_096 + 4;
    const bytes = readFileSync(at('service.db'));
    bytes[count] = (bytes[count] ?? 0) - 1;
    writeFileSync(at('service.db'), bytes);
    expect(await mismatchesIn(place.data)).toContainEqual({
      check: 'integrity',
      subject: 'service.db',
      problem: expect.stringContaining('missing from index messages_project'),
    });
  });

  it.each<[string, () => void, string]>([
    ['a missing secret', () => rmSync(at('secret')), 'the secret is missing'],
    [
      'an old copy',
      () => {
        const identity = JSON.parse(readFileSync(at('installation.json'), 'utf8'));
        writeFileSync(at('installation.json'), JSON.stringify({ ...identity, epoch: identity.epoch - 2 }));
      },
      'one of the files is an old copy',
    ],
    [
      'a foreign installation.json',
      () => {
        const identity = JSON.parse(readFileSync(at('installation.json'), 'utf8'));
        writeFileSync(at('installation.json'), JSON.stringify({ ...identity, id: 'foreign' }));
      },
      'service.db and installation.json do not belong together',
    ],
  ])('finds %s', async (_, damage, problem) => {
    await core.close();
    // Two starts: an old copy is behind by more than one that was cut short.
    for (let start = 0; start < 2; start += 1)
      await (await openCore({ ...place.data, report: () => {} })).close();
    damage();
    expect(await mismatchesIn(place.data)).toEqual([{ check: 'files', subject: place.directory, problem }]);
  });

  it('finds a missing file', async () => {
    rmSync(at('operator.db'));
    expect(await mismatchesIn(place.data)).toEqual([
      { check: 'files', subject: 'operator.db', problem: 'it is missing or empty' },
    ]);
  });
});
