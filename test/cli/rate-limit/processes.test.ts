import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type Service } from '../../../src/service/index.js';
import { Machine, type Outcome } from '../../support/binary.js';
import { fileFolder } from '../../support/folders.js';
import { json, Loopback } from '../../support/loopback.js';
import { numbers } from '../bulk/memory-plan.js';

const machine = new Machine();
const directory = fileFolder();
let service: Service;
let env: Record<string, string>;

beforeAll(async () => {
  service = await createService({ directory, rates: 'enforced' });
  await service.administration.credit(1_000_000);
  const { secret } = await service.administration.createKey();
  const { url } = await service.listen({ port: 0 });
  env = { URTUU_API_KEY: secret, URTUU_BASE_URL: url };
});
afterAll(async () => {
  await service.close();
  machine.remove();
});

const urtuu = (...args: string[]) => machine.run([...args, '-v'], { env });
const tooMany = (ended: readonly Outcome[]) =>
  ended.flatMap(({ stderr }) => stderr.split('\n').filter((line) => line.includes('-> 429')));

function job(name: string, first: number, texts: number): Promise<Outcome> {
  const file = join(machine.home, `${name}.csv`);
  writeFileSync(file, `phone\n${numbers(texts, first).join('\n')}\n`);
  return urtuu('sms', 'bulk', file, '--text', 'Hello {phone}', '--job', name, '--yes');
}

describe('processes at once, at a service that allows what it promises', () => {
  it('look up and send without a single 429, and use the whole allowance', { timeout: 60_000 }, async () => {
    const started = performance.now();
    const sent = await urtuu('sms', 'send', '99112233', 'Hello', '--json');
    const { id } = JSON.parse(sent.stdout) as { id: string };
    const began = performance.now();
    const single = (began - started) / 1_000;
    const ids = Array.from({ length: 20 }, () => id);
    const lookUps = [1, 2, 3].map(async () => {
      const outcome = await urtuu('messages', 'get', ...ids, '-o', 'csv');
      return { outcome, seconds: (performance.now() - began) / 1_000 };
    });
    const jobs = [job('one', 1_000, 60), job('two', 2_000, 60)];
    const reads = await Promise.all(lookUps);
    const ended = [...reads.map(({ outcome }) => outcome), ...(await Promise.all(jobs))];
    expect(tooMany(ended)).toEqual([]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    for (const { outcome } of reads) expect(outcome.stdout.trim().split('\n')).toHaveLength(21);
    // 60 reads and the jobs' own take 5.5 s at 10 a second; five processes at once take some more.
    expect(Math.max(...reads.map(({ seconds }) => seconds))).toBeLessThan(9 + 10 * single);
  });
});

describe('a look-up', () => {
  it('keeps --wait-timeout while the client waits as long as the service says', async () => {
    await using deaf = await Loopback.listen((_, response) =>
      json(response, 429, { error: { code: 'rate_limited', message: 'later' } }, { 'retry-after': '9' }),
    );
    const began = performance.now();
    const { code } = await machine.run(['messages', 'get', 'a', '--wait', '--wait-timeout', '500ms'], {
      env: { ...env, URTUU_BASE_URL: `${deaf.origin}/v1` },
    });
    expect(code).toBe(14);
    expect(performance.now() - began).toBeLessThan(9_000);
  });
});
