// POST /v1/sms in one file, of Express and better-sqlite3: node express-sqlite.cjs <database> <key>; prints its port.
// It looks an idempotency key up, and its rows are on disk before it answers.
const { randomUUID } = require('node:crypto');
const Database = require('better-sqlite3');
const express = require('express');

const [, , file, apiKey] = process.argv;
const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec(`
  CREATE TABLE messages (id TEXT NOT NULL UNIQUE, recipient TEXT NOT NULL, text TEXT NOT NULL, created_at INTEGER NOT NULL);
  CREATE TABLE idempotency (key TEXT PRIMARY KEY, request TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID;`);
const findEarlier = database.prepare('SELECT request, answer FROM idempotency WHERE key = ?');
const addMessage = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
const addAnswer = database.prepare('INSERT INTO idempotency VALUES (?, ?, ?)');

const accept = database.transaction((key, request, to, text) => {
  const earlier = findEarlier.get(key);
  if (earlier !== undefined) return earlier.request === request ? earlier.answer : null;
  const id = randomUUID();
  const answer = JSON.stringify({ id, to, status: 'sent' });
  addMessage.run(id, to, text, Date.now());
  addAnswer.run(key, request, answer);
  return answer;
});

const app = express();
app.use(express.json());
app.post('/v1/sms', (request, response) => {
  if (request.get('Authorization') !== `Bearer ${apiKey}`) return response.sendStatus(401);
  const { to, text } = request.body;
  if (!/^\d{8}$/.test(to) || typeof text !== 'string' || text === '') return response.sendStatus(400);
  const key = request.get('Idempotency-Key') ?? randomUUID();
  const answer = accept.immediate(key, JSON.stringify(request.body), to, text);
  return answer === null ? response.sendStatus(409) : response.type('json').send(answer);
});
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
