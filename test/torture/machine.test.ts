import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine, outcomeOf } from '../support/binary.js';
import { json, Loopback } from '../support/loopback.js';
import { errorBody } from '../support/resources.js';
import { recipients } from './people.js';
import { ServiceProcess } from './service-process.js';

const machine = new Machine();
const service = new ServiceProcess(machine, join(machine.home, 'service'));
beforeAll(() => service.create(1_000_000));
afterAll(async () => {
  await service.kill();
  machine.remove();
});

/** The words that send so many people a text of their own, as the job of that name. */
function sending(
  job: string,
  first: number,
  count: number,
  origin = `http://127.0.0.1:${service.port}`,
): string[] {
  const file = join(machine.home, `${job}.csv`);
  writeFileSync(file, `phone\n${recipients(first, count).join('\n')}\n`);
  const line = [
    'sms',
    'bulk',
    file,
    '--text',
    `Hello {phone}`,
    '--job',
    job,
    '--yes',
    '--json',
    '--rate',
    '500',
  ];
  return [...line, '--base-url', `${origin}/v1`];
}
const env = () => ({ URTUU_API_KEY: service.key });
const figures = (stdout: string) => JSON.parse(stdout) as Record<string, number>;

describe('a job on a real machine', () => {
  it('has nothing on standard error but its own words, with many requests in flight and many to wait for', async () => {
    const file = join(machine.home, 'many.csv');
    const rows = recipients(3_000, 80).map((number, index) => `${number},${index % 40}`);
    writeFileSync(file, `phone,text\n${rows.join('\n')}\n`);
    const words = [
      'sms',
      'bulk',
      file,
      '--text',
      'Text {text}',
      '--job',
      'many',
      '--yes',
      '--json',
      '--wait',
    ];
    const options = ['--concurrency', '32', '--quiet', '--base-url', `http://127.0.0.1:${service.port}/v1`];
    const { code, stderr, stdout } = await machine.run([...words, ...options], { env: env() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(figures(stdout)).toMatchObject({ planned: 80, accepted: 80 });
  });

  it('is sent once when it is started twice at once', async () => {
    const words = sending('twice', 1_000, 60);
    const both = await Promise.all([machine.run(words, { env: env() }), machine.run(words, { env: env() })]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 11]);
  });

  it('is gone 5 s after SIGTERM, also while the service hangs, and says what is in doubt', async () => {
    const hanging = new EventEmitter();
    let sends = 0;
    await using deaf = await Loopback.listen(({ method }, response) => {
      if (method === 'GET') return json(response, 403, errorBody('forbidden'));
      sends += 1;
      if (sends === 8) hanging.emit('all');
    });
    const child = machine.start(sending('deaf', 2_000, 50, deaf.origin), { env: env() });
    child.stdin?.end();
    const ended = outcomeOf(child);
    await once(hanging, 'all');
    const before = Date.now();
    child.kill('SIGTERM');
    const { signal, stdout, stderr } = await ended;
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(signal).toBe('SIGTERM');
    expect(figures(stdout)).toMatchObject({ accepted: 0, in_doubt: 8, pending: 42 });
    expect(stderr).toContain('8 in doubt');
  });

  it('has left exactly one message with everybody', async () => {
    const got = await service.deliveries();
    const everybody = [...recipients(1_000, 60), ...recipients(3_000, 80)];
    expect(everybody.filter((number) => got.get(number) !== 1)).toEqual([]);
    expect(got.size).toBe(everybody.length);
  });
});
