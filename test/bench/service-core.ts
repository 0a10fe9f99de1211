// The service without HTTP, against bare SQLite transactions of the same rows in the same store.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProject } from '../../src/service/admin/projects.js';
import { openCore } from '../../src/service/core.js';
import { openDatabase } from '../../src/service/storage/sqlite/database/open.js';
import { migrations } from '../../src/service/storage/sqlite/schema/schema.js';
import { inPairs, type Row } from './pairs.js';

const caller = { projectId: defaultProject.id, keyId: 'bench' };
const text = 'Сайн байна уу, таны захиалга ирлээ.';
const sends = Number(process.env.SENDS ?? 8_000);
const connections = 16;

const folder = () => mkdtempSync(join(tmpdir(), 'urtuu-bench-'));

const insertMessage = `INSERT INTO messages (id, project, batch, content, channel, recipient, operator, status, parts,
  rate_multiplier, credits, created_at, due_at, lease, attempts, pending_key)
  VALUES (?, 1, ?, 1, 'sms', ?, 'Mobicom', 'queued', 1, 1, 10, ?, ?, NULL, 0, NULL)`;

/** One transaction a message: its row, its charge, its key; then the row and the key are updated. */
export async function bareSends(): Promise<number> {
  const directory = folder();
  const database = await openDatabase(join(directory, 'bare.db'), { synchronous: 'full', migrations });
  database.exec(`INSERT INTO projects (id, name, balance, created_at) VALUES ('p', 'p', 1000000000, 0)`);
  const statements = {
    begin: database.prepare('BEGIN IMMEDIATE'),
    content: database.prepare('INSERT INTO contents (text) VALUES (?)'),
    message: database.prepare(insertMessage),
    balance: database.prepare('UPDATE projects SET balance = balance - 10 WHERE seq = 1'),
    ledger: database.prepare(
      `INSERT INTO ledger (project, amount, reason, subject_id, created_at) VALUES (1, -10, 'message', ?, ?)`,
    ),
    key: database.prepare('INSERT INTO idempotency (project, key, status, body) VALUES (1, ?, 200, ?)'),
    commit: database.prepare('COMMIT'),
  };
  const body = 'x'.repeat(330);
  const start = performance.now();
  for (let index = 0; index < sends; index += 1) {
    const id = `0190-${index}-aaaa-bbbb-cccc-dddddddd`;
    statements.begin.run();
    statements.content.run(text);
    statements.message.run(id, null, `${99_100_000 + index}`, index, index);
    statements.balance.run();
    statements.ledger.run(id, index);
    statements.key.run(randomUUID(), body);
    statements.commit.run();
  }
  const rate = (sends / (performance.now() - start)) * 1_000;
  database.close();
  rmSync(directory, { recursive: true });
  return rate;
}

async function serviceSends(hasListener = false): Promise<number> {
  const directory = folder();
  const core = await openCore({ directory, rates: 'off' });
  await core.administration.credit(sends * 10);
  if (hasListener) await core.operations.listEvents(caller, {});
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < sends) {
        const index = next++;
        await core.operations.sendSms({
          caller,
          params: { to: `${99_100_000 + index}`, text },
          idempotencyKey: randomUUID(),
        });
      }
    }),
  );
  const rate = (sends / (performance.now() - start)) * 1_000;
  await core.close();
  rmSync(directory, { recursive: true });
  return rate;
}

const batchSize = 1_000;
const batches = 20;

/** Milliseconds for 1,000 rows inserted in one transaction and updated in another. */
async function bareBatch(): Promise<number> {
  const directory = folder();
  const database = await openDatabase(join(directory, 'bare.db'), { synchronous: 'full', migrations });
  const insert = database.prepare(insertMessage);
  const update = database.prepare(
    `UPDATE messages SET status = 'sent', sent_at = ?, due_at = NULL WHERE id = ?`,
  );
  const start = performance.now();
  for (let batch = 0; batch < batches; batch += 1) {
    const id = (index: number) => `0190-${batch}-${index}-bbbb-cccc-dddddddd`;
    database.exec('BEGIN IMMEDIATE');
    for (let index = 0; index < batchSize; index += 1) {
      insert.run(id(index), batch, `${88_000_000 + batch * batchSize + index}`, batch, batch);
    }
    database.exec('COMMIT; BEGIN IMMEDIATE');
    for (let index = 0; index < batchSize; index += 1) update.run(batch, id(index));
    database.exec('COMMIT');
  }
  const each = (performance.now() - start) / batches;
  database.close();
  rmSync(directory, { recursive: true });
  return each;
}

async function serviceBatch(): Promise<number> {
  const directory = folder();
  const core = await openCore({ directory, rates: 'off' });
  await core.administration.credit(batches * batchSize * 10);
  const start = performance.now();
  for (let batch = 0; batch < batches; batch += 1) {
    const to = Array.from({ length: batchSize }, (_, index) => `${88_000_000 + batch * batchSize + index}`);
    await core.operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: `batch-${batch}` });
    await core.administration.idle();
  }
  const each = (performance.now() - start) / batches;
  await core.close();
  rmSync(directory, { recursive: true });
  return each;
}

/** Messages and batches of the service without HTTP. */
export async function core(rounds = 5): Promise<Row[]> {
  const send = await inPairs(serviceSends, bareSends, rounds);
  const recorded = await inPairs(serviceSends, () => serviceSends(true), rounds);
  const batch = await inPairs(serviceBatch, bareBatch, rounds);
  return [
    {
      what: 'service: one SMS, 16 at once, durable, without HTTP',
      against: 'the bare SQLite transaction of the same rows',
      goal: '0.5 of its rate',
      measured: `${send.ratio.toFixed(2)} (${send.a.toFixed(0)}/s to ${send.b.toFixed(0)}/s)`,
      met: send.ratio >= 0.5,
    },
    {
      what: 'service: one SMS, of a project without a listener',
      against: 'of one with a listener, whose events are recorded',
      goal: '1.10 of its rate at most',
      measured: `${recorded.ratio.toFixed(2)} (${recorded.a.toFixed(0)}/s to ${recorded.b.toFixed(0)}/s)`,
      met: recorded.ratio <= 1.1,
    },
    {
      what: 'service: a batch of 1,000 to completed',
      against: '1,000 rows inserted and updated',
      goal: '2',
      measured: `${batch.ratio.toFixed(2)} (${batch.a.toFixed(0)} ms to ${batch.b.toFixed(0)} ms)`,
      met: batch.ratio <= 2,
    },
  ];
}
