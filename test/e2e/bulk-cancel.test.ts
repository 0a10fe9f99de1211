import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine, type Outcome, outcomeOf } from '../support/binary.js';
import { saying } from '../support/saying.js';

const recipients = Array.from({ length: 150 }, (_, index) => String(95_300_000 + index * 7));

describe('a job that is cancelled while either side is killed', () => {
  const machine = new Machine();
  const file = join(machine.home, 'pickup.csv');
  const bulk = ['sms', 'bulk', file, '--text', 'Hi {name}', '--job', 'july', '--sandbox', '--yes'];
  const resume = ['jobs', 'resume', 'july', '--sandbox'];
  const cancel = ['jobs', 'cancel', 'july'];

  beforeAll(() => {
    const rows = recipients.map((to, index) => `${to},Bat ${index}`);
    writeFileSync(file, ['phone,name', ...rows, ''].join('\n'));
  });
  afterAll(() => machine.remove());

  const job = async () => JSON.parse((await machine.run(['jobs', 'show', 'july', '--json'])).stdout);

  /** Once it sends. */
  async function running(words: string[]) {
    const child = machine.start(words);
    const ended = outcomeOf(child);
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    const accepted = (await job().catch(() => ({ accepted: 0 }))).accepted;
    while (!isOver && !((await job().catch(() => ({ accepted: 0 }))).accepted > accepted)) await sleep(50);
    return { child, ended };
  }

  it('keeps the mark, and reaches every recipient exactly once', async () => {
    // The process of the job is killed as it is cancelled.
    const first = await running(bulk);
    const cancelled = machine.run(cancel);
    await sleep(300);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await cancelled).toMatchObject({ code: 0 });
    expect(await machine.run(bulk)).toMatchObject({ code: 11, stderr: expect.stringContaining('resume') });
    expect(await job()).toMatchObject({ state: 'unfinished', reason: 'cancelled' });

    // A resume is killed: before it removes the mark it has changed nothing, after that it is as any other run.
    const killed = machine.start(resume);
    const death = outcomeOf(killed);
    await sleep(400);
    killed.kill('SIGKILL');
    await death;

    // The process that cancels is killed: the mark is there, or it is not.
    const second = await running(resume);
    const killer = machine.start(cancel);
    const end = outcomeOf(killer);
    await sleep(150);
    killer.kill('SIGKILL');
    await end;
    const ended = await second.ended;
    const again = await machine.run(cancel);
    expect([
      [0, 11],
      [5, 0],
      [6, 0],
    ]).toContainEqual([ended.code, again.code]);

    let last: Outcome = await machine.run(resume);
    for (let tries = 0; last.code !== 0 && last.code !== 11 && tries < 5; tries += 1)
      last = await machine.run(resume);
    expect(await job()).toMatchObject({ accepted: recipients.length, in_doubt: 0, pending: 0 });
    expect(await machine.run(bulk)).toMatchObject(saying(11, /finished at.*nothing was sent/s));
    const { stdout } = await machine.run(['sandbox', 'outbox', '--json']);
    const delivered = (JSON.parse(stdout) as { to: string }[]).map(({ to }) => to);
    expect(delivered.sort()).toEqual([...recipients].sort());
  }, 120_000);
});
