import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Machine } from '../support/binary.js';

const machine = new Machine();
afterEach(() => machine.remove());

/** Of a clock in UTC, so many minutes from now. */
const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);

it('quiet hours let a batch wait, refuse a single SMS of a list until they end, and end its job with 5', async () => {
  const data = join(machine.home, 'data');
  const list = join(machine.home, 'list.csv');
  writeFileSync(list, 'phone,name\n88000001,Bat\n88000002,Dorj\n88000003,Saran\n');
  const { client, base_url: url, api_key: key, child, ended } = await machine.serve(['--data', data]);
  const run = (words: string) => machine.run([...words.split(' '), '--data', data], { env: client });
  const urtuu = (words: string[]) => machine.run(words, { env: { ...client, TZ: 'UTC' } });
  expect((await run(`service settings set quiet_hours ${at(-60)}-${at(120)}`)).code).toBe(0);
  expect((await run('service settings set quiet_zone UTC')).code).toBe(0);

  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': `of ${path}`,
        'urtuu-class': 'bulk',
      },
    });
  const refused = await post('/sms', { to: '88000001', text: 'hi' });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after')) / 3_600).toBeCloseTo(2, 1);
  const batch = await post('/sms/bulk', { to: ['88000001'], text: 'hi' });
  const { id } = (await batch.json()) as { id: string };
  const sent = async (...more: string[]) =>
    JSON.parse((await urtuu(['batches', 'get', id, '--json', ...more])).stdout).sent;

  const job = ['sms', 'bulk', list, '--text', 'Hi {name}', '--job', 'feb', '--yes'];
  const stopped = await urtuu(job);
  expect(stopped).toMatchObject({ code: 5, signal: null });
  expect(stopped.stderr).toMatch(
    /The service accepts nothing until \d\d:\d\d\. 0 accepted, 3 not sent yet\. Nothing is in doubt\. Resume then: .*urtuu jobs resume feb/,
  );
  expect((await run('service status')).stderr).toMatch(/ is quiet until \d\d:\d\d \(UTC\); its batches/);
  expect(await sent()).toBe(0);

  expect(await run('service settings set quiet_hours ').then(({ code }) => code)).toBe(0);
  expect((await urtuu(['jobs', 'resume', 'feb', '--wait'])).code).toBe(0);
  expect(await sent('--wait')).toBe(1);
  expect((await post('/sms', { to: '88000001', text: 'hi' })).status).toBe(200);
  child.kill();
  await ended;
});
