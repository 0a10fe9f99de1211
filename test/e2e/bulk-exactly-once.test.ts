import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine, outcomeOf } from '../support/binary.js';

const recipients = Array.from({ length: 160 }, (_, index) => String(95_200_000 + index * 7));
const names = ['Бат', 'Сараа', 'John', 'Өлзий', 'Туяа'];

describe('the main job, killed again and again', () => {
  const machine = new Machine();
  const file = join(machine.home, 'pickup.csv');
  const command = ['sms', 'bulk', file, '--text', '{name}: {order} is ready', '--sandbox', '--yes', '--wait'];

  beforeAll(() => {
    const rows = recipients.map((to, index) => `${to},${names[index % 5]},${Math.floor(index / 2)}`);
    writeFileSync(file, ['phone,name,order', ...rows, ''].join('\n'));
  });
  afterAll(() => machine.remove());

  const delivered = async (): Promise<string[]> => {
    const { stdout } = await machine.run(['sandbox', 'outbox', '--json']);
    return (JSON.parse(stdout) as { to: string }[]).map(({ to }) => to);
  };

  it('reaches every recipient exactly once, and a finished job is not repeated', async () => {
    let interrupted = 0;
    for (const milliseconds of [700, 1_100, 1_500]) {
      const child = machine.start(command);
      const outcome = outcomeOf(child);
      const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
      if ((await outcome).signal === 'SIGKILL') interrupted += 1;
      clearTimeout(timer);
    }
    expect(interrupted).toBeGreaterThan(0);

    const last = await machine.run([...command, '--json']);
    expect(last).toMatchObject({ code: 0, signal: null });
    expect(JSON.parse(last.stdout)).toMatchObject({
      planned: recipients.length,
      accepted: recipients.length,
      in_doubt: 0,
      pending: 0,
      exit: 0,
    });
    expect((await delivered()).sort()).toEqual([...recipients].sort());

    const repeat = await machine.run(command);
    expect(repeat.code).toBe(11);
    expect(repeat.stderr).toMatch(/finished at.*nothing was sent/s);
    expect(await delivered()).toHaveLength(recipients.length);
  }, 90_000);
});
