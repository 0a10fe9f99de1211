import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Urtuu } from '../../src/client/index.js';

// A sender as one writes it in an afternoon: it retries, and remembers what was accepted. The control.
const [baseUrl = '', file = '', done = '', mode = ''] = process.argv.slice(2);
const own = randomUUID();
const batchSize = 20;

async function main(): Promise<void> {
  const client = new Urtuu(process.env.URTUU_API_KEY, { baseUrl, timeout: 700, maxRetries: 0 });
  const numbers = readFileSync(file, 'utf8').trim().split('\n').slice(1);
  const finished = new Set(existsSync(done) ? readFileSync(done, 'utf8').split('\n') : []);
  for (let first = 0; first < numbers.length; first += batchSize) {
    const to = numbers.slice(first, first + batchSize).map((line) => line.split(',')[0] ?? '');
    const content = createHash('sha256').update(to.join()).digest('hex');
    const name = mode === 'content' ? content : String(first);
    if (finished.has(name)) continue;
    const idempotencyKey = mode === 'content' ? content : `${mode === 'time' ? Date.now() : own}-${first}`;
    for (;;) {
      try {
        await client.sms.sendBulk({ to, text: 'Hello' }, { idempotencyKey });
        break;
      } catch {
        await sleep(20);
      }
    }
    appendFileSync(done, `${name}\n`);
  }
}

void main();
