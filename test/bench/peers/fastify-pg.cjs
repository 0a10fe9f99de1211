// POST /v1/sms in one file, of Fastify and pg: node fastify-pg.cjs <url of an empty database> <key>; prints its port.
// It looks an idempotency key up, and its rows are on disk before it answers.
const { randomUUID } = require('node:crypto');
const fastify = require('fastify');
const { Pool } = require('pg');

const [, , url, apiKey] = process.argv;
const pool = new Pool({ connectionString: url, max: 16 });
const tables = `
  CREATE TABLE messages (id uuid PRIMARY KEY, recipient text NOT NULL, text text NOT NULL, created_at timestamptz NOT NULL);
  CREATE TABLE idempotency (key text PRIMARY KEY, request text NOT NULL, answer text NOT NULL);`;
// One statement is one transaction; with a name it is prepared once.
const add = {
  name: 'add',
  text: `WITH added AS (INSERT INTO idempotency VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING key)
    INSERT INTO messages SELECT $4, $5, $6, now() FROM added`,
};
const findEarlier = { name: 'earlier', text: 'SELECT request, answer FROM idempotency WHERE key = $1' };

const body = {
  type: 'object',
  required: ['to', 'text'],
  properties: { to: { type: 'string', pattern: '^\\d{8}$' }, text: { type: 'string', minLength: 1 } },
};

async function main() {
  await pool.query(tables);
  const app = fastify();
  app.post('/v1/sms', { schema: { body } }, async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${apiKey}`) return reply.code(401).send();
    const { to, text } = request.body;
    const key = request.headers['idempotency-key'] ?? randomUUID();
    const asked = JSON.stringify(request.body);
    const id = randomUUID();
    const answer = JSON.stringify({ id, to, status: 'sent' });
    const { rowCount } = await pool.query({ ...add, values: [key, asked, answer, id, to, text] });
    reply.type('application/json');
    if (rowCount === 1) return answer;
    const [earlier] = (await pool.query({ ...findEarlier, values: [key] })).rows;
    return earlier.request === asked ? earlier.answer : reply.code(409).send();
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.stdout.write(`${app.server.address().port}\n`);
}

void main();
