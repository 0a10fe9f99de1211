// What one would write in an afternoon: POST /v1/sms in one file of Express, as durable, with a package for SQLite.
// node express.cjs <database> <key> <package>; prints its port.
const { createHash, randomUUID } = require('node:crypto');
const express = require('express');

const [, , file, secret, engine] = process.argv;
const sqlite = require(engine);
const Database = sqlite.DatabaseSync ?? sqlite;
const database = new Database(file);
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = full;
  CREATE TABLE projects (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
  CREATE TABLE keys (hash BLOB PRIMARY KEY, project INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE messages (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, project INTEGER, recipient TEXT, text TEXT, status TEXT,
    credits INTEGER, created_at INTEGER, sent_at INTEGER);
  CREATE INDEX messages_recent ON messages (project, recipient, created_at);
  CREATE TABLE ledger (seq INTEGER PRIMARY KEY, project INTEGER, amount INTEGER, subject TEXT, created_at INTEGER);
  CREATE TABLE idempotency (project INTEGER, key TEXT, body TEXT, PRIMARY KEY (project, key));
  INSERT INTO projects VALUES (1, 2000000000)`);
const hashOf = (secret) => createHash('sha256').update(secret).digest();
database.prepare('INSERT INTO keys VALUES (?, 1)').run(hashOf(secret));

const prepare = (sql) => database.prepare(sql);
const begin = prepare('BEGIN IMMEDIATE');
const commit = prepare('COMMIT');
const findKey = prepare('SELECT project FROM keys WHERE hash = ?');
const findAnswer = prepare('SELECT body FROM idempotency WHERE project = ? AND key = ?');
const countRecent = prepare(
  'SELECT count(*) AS count FROM messages WHERE project = ? AND recipient = ? AND created_at > ?',
);
const findBalance = prepare('SELECT balance FROM projects WHERE id = ?');
const charge = prepare('UPDATE projects SET balance = balance - ? WHERE id = ?');
const insertMessage = prepare(
  `INSERT INTO messages (id, project, recipient, text, status, credits, created_at) VALUES (?, ?, ?, ?, 'queued', ?, ?)`,
);
const insertEntry = prepare('INSERT INTO ledger (project, amount, subject, created_at) VALUES (?, ?, ?, ?)');
const insertKey = prepare('INSERT INTO idempotency (project, key) VALUES (?, ?)');
const setSent = prepare(`UPDATE messages SET status = 'sent', sent_at = ? WHERE id = ?`);
const setAnswer = prepare('UPDATE idempotency SET body = ? WHERE project = ? AND key = ?');

function transact(work) {
  begin.run();
  try {
    const result = work();
    commit.run();
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

const day = 86_400_000;
const credits = 10;
const refuse = (response, status, code) => response.status(status).json({ error: { code } });
/** An operator who takes everything, and keeps nothing. */
const submit = async () => {};

const app = express();
app.use(express.json());
app.use((request, response, next) => {
  const key = findKey.get(hashOf((request.get('authorization') ?? '').replace(/^Bearer /, '')));
  if (key === undefined) return refuse(response, 401, 'unauthorized');
  request.project = key.project;
  next();
});
app.post('/v1/sms', async (request, response) => {
  const { project } = request;
  const { to, text } = request.body;
  if (!/^[789]\d{7}$/.test(to) || typeof text !== 'string' || text.length > 1_000)
    return refuse(response, 400, 'invalid_request');
  const key = request.get('idempotency-key') ?? randomUUID();
  const earlier = findAnswer.get(project, key);
  if (earlier?.body) return response.type('json').send(earlier.body);
  if (earlier) return refuse(response, 409, 'in_progress');
  const id = randomUUID();
  const at = Date.now();
  const refused = transact(() => {
    if (countRecent.get(project, to, at - day).count >= 20) return 'recipient_rate_limited';
    if (findBalance.get(project).balance < credits) return 'insufficient_credits';
    charge.run(credits, project);
    insertMessage.run(id, project, to, text, credits, at);
    insertEntry.run(project, -credits, id, at);
    insertKey.run(project, key);
    return null;
  });
  if (refused !== null) return refuse(response, 402, refused);
  await submit({ id, to, text });
  const body = transact(() => {
    const sentAt = Date.now();
    setSent.run(sentAt, id);
    const { balance } = findBalance.get(project);
    const times = { created_at: new Date(at).toISOString(), sent_at: new Date(sentAt).toISOString() };
    const answer = JSON.stringify({ id, status: 'sent', to, parts: 1, credits, ...times, balance });
    setAnswer.run(answer, project, key);
    return answer;
  });
  response.type('json').send(body);
});

const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
