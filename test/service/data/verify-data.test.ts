import { openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Core, openCore } from '../../../src/service/core.js';
import { type Mismatch, verify } from '../../../src/service/data/verify-data.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { Cores, caller, requestsTo } from '../../support/cores.js';
import { emptyDatabase, newDatabase, query } from '../../support/postgres.js';
import { testSecret } from '../../support/test-engine.js';

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
  const unkeyed = { to: 'bald@example.mn', subject: 's', text: 't' };
  await core.operations.sendEmail({ caller, params: unkeyed, idempotencyKey: null });
  await sendBulk(['99112234', '99112235'], 'Hi');
  await sendBulk(['99112237'], 'Hi', 'key-5');
  await core.operations.createVerification(caller, { to: '99112236' });
  await core.administration.idle();
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
  Partial<Mismatch> | readonly Partial<Mismatch>[],
][] = [
  [
    'a ledger entry that is gone',
    { both: 'DELETE FROM ledger WHERE amount = -20' },
    [
      { check: 'ledger', problem: expect.stringMatching(/^the balance is \d+, its ledger adds up to \d+$/) },
      { check: 'ledger', problem: 'it costs 20, its ledger says 0' },
    ],
  ],
  ['a balance that is off by 1', { both: 'UPDATE projects SET balance = balance + 1' }, { check: 'ledger' }],
  [
    'a message that is gone, beside its ledger line',
    { both: "DELETE FROM messages WHERE recipient = 'bald@example.mn'" },
    { check: 'ledger', problem: 'it paid for a message, which is missing' },
  ],
  [
    'a batch that is gone with its messages, beside its ledger line',
    {
      both: `DELETE FROM messages WHERE batch = (SELECT seq FROM batches WHERE total = 2);
        DELETE FROM batches WHERE total = 2`,
    },
    { check: 'ledger', problem: 'it paid for a batch, which is missing' },
  ],
  [
    'a refund of a message that is gone',
    {
      both: `INSERT INTO ledger (project, amount, reason, subject_id, created_at)
          SELECT seq, 5, 'refund', 'nothing', 1 FROM projects;
        UPDATE projects SET balance = balance + 5`,
    },
    { check: 'ledger', subject: 'nothing', problem: 'it refunded a message, which is missing' },
  ],
  [
    'a ledger line and a balance that were raised together',
    {
      both: `UPDATE ledger SET amount = amount + 5 WHERE amount = -20;
        UPDATE projects SET balance = balance + 5`,
    },
    { check: 'ledger', problem: 'it costs 20, its ledger says 15' },
  ],
  [
    'the line of a verification and a balance that were raised together',
    {
      both: `UPDATE ledger SET amount = amount + 5 WHERE reason = 'verification';
        UPDATE projects SET balance = balance + 5`,
    },
    { check: 'ledger', problem: 'it costs 10, its ledger says 5' },
  ],
  [
    'a refund of a message that was sent',
    {
      both: `INSERT INTO ledger (project, amount, reason, subject_id, created_at)
          SELECT project, 10, 'refund', id, 1 FROM messages WHERE recipient LIKE '%99112234';
        UPDATE projects SET balance = balance + 10`,
    },
    { check: 'ledger', problem: 'it costs 10, and 10 was refunded' },
  ],
  [
    'a message of a batch with another price',
    { both: "UPDATE messages SET credits = 9 WHERE recipient LIKE '%99112234'" },
    { check: 'ledger', problem: 'it costs 9, each of its batch 10' },
  ],
  [
    'the count of a batch',
    { both: 'UPDATE batches SET sent = sent - 1 WHERE total = 2' },
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
    [
      { check: 'ledger', problem: 'it paid for a message, which is missing' },
      { check: 'answer', subject: 'key-1' },
    ],
  ],
  [
    'an answer without its failed message',
    { both: "DELETE FROM messages WHERE recipient LIKE '%99000001'" },
    [
      { check: 'ledger', problem: 'it paid for a message, which is missing' },
      { check: 'ledger', problem: 'it refunded a message, which is missing' },
      { check: 'answer', subject: 'key-2' },
    ],
  ],
  ...(
    [
      [
        'the recipient',
        "UPDATE messages SET recipient = '99112239' WHERE recipient LIKE '%99112233'",
        'key-1',
      ],
      ['the outcome', "UPDATE idempotency SET status = 502 WHERE key = 'key-1'", 'key-1'],
      ['the error', "UPDATE messages SET error_code = 'x' WHERE recipient LIKE '%99000001'", 'key-2'],
      ['the channel', "UPDATE messages SET channel = 'email' WHERE recipient LIKE '%99112233'", 'key-1'],
      [
        'the size of a batch',
        'UPDATE idempotency SET body = replace(body, \'"total":1,\', \'"total":2,\')',
        'key-5',
      ],
    ] as const
  ).map(([what, both, subject]): (typeof cases)[0] => [
    `an answer with ${what} of another message`,
    { both },
    { check: 'answer', subject, problem: expect.stringMatching(/^it does not fit its (message|batch): /) },
  ]),
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
    { both: "DELETE FROM batches WHERE total = 2; DELETE FROM messages WHERE recipient LIKE '%99112234'" },
    [
      { check: 'ledger', problem: 'it paid for a batch, which is missing' },
      { check: 'batch', problem: 'its batch is missing' },
    ],
  ],
  [
    'a lease that counts nothing',
    {
      folder: `INSERT INTO leases (token, until, length, first_message, last_message, open, holder)
        VALUES ('lost', unixepoch() * 1000 + 86400000, 86400000, 1, 1, 0, 'x.1.1.1')`,
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
    const expected = Array.isArray(mismatch) ? mismatch : [mismatch];
    expect(await mismatchesIn(place.data)).toEqual(expected.map((one) => expect.objectContaining(one)));
  });

  it('finds +5 and -5 on two lines of the ledger', async () => {
    await place.damage(`UPDATE ledger SET amount = amount + 5 WHERE amount = -20;
      UPDATE ledger SET amount = amount - 5 WHERE reason = 'verification'`);
    expect((await mismatchesIn(place.data)).map(({ check, problem }) => [check, problem]).sort()).toEqual([
      ['ledger', 'it costs 10, its ledger says 15'],
      ['ledger', 'it costs 20, its ledger says 15'],
    ]);
  });

  it('finds two bound answers that were swapped', async () => {
    const other = (field: string) =>
      `(SELECT ${field} FROM others o WHERE o.key <> idempotency.key AND o.key IN ('key-1', 'key-2'))`;
    await place.damage(`CREATE TABLE others AS SELECT key, status, body FROM idempotency;
      UPDATE idempotency SET status = ${other('status')}, body = ${other('body')} WHERE key IN ('key-1', 'key-2');
      DROP TABLE others`);
    const found = await mismatchesIn(place.data);
    expect(found.length).toBeGreaterThan(0);
    for (const { check, problem } of found)
      expect([check, problem]).toEqual(['answer', 'it answers for a message of another key']);
  });

  it.each([
    ['the service', { folder: 'user_version', database: 'urtuu_schema' }],
    ['the simulated operator', { folder: 'operator.user_version', database: 'operator_schema' }],
  ])('refuses a newer schema of %s', async (_, names) => {
    const [change, undo] =
      kind === 'folder'
        ? [`PRAGMA ${names.folder} = 99`, '']
        : [
            `UPDATE ${names.database} SET version = version + 90`,
            `UPDATE ${names.database} SET version = version - 90`,
          ];
    await place.damage(change);
    await expect(mismatchesIn(place.data)).rejects.toThrow('newer version of urtuu');
    if (undo !== '') await place.damage(undo);
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
