import { expect, it } from 'vitest';
import { blocksOf, exchangesOf, textOf } from './pages.js';
import { ReaderMachine } from './reader-machine.js';

const page = 'docs/guide.md';
const lines = textOf(page).split('\n');
const first = lines.indexOf('## A month of reminders');
const end = lines.findIndex((line, at) => at > first && line.startsWith('## '));

/** The lines to type, in their order. */
const typed = blocksOf(page)
  .filter(({ line }) => line > first && line < end)
  .flatMap((block) =>
    block.language === 'console'
      ? exchangesOf(block).map(({ command }) => command)
      : block.code.replaceAll('\\\n', '').trim().split('\n'),
  );

it('a month of reminders is typed from the guide, and everybody gets each of them once', async () => {
  await using machine = await ReaderMachine.open();
  const { PATH = '', HOME = '' } = machine.environment;
  const env = { PATH, HOME, URTUU_SANDBOX: '1' };
  const results = [];
  for (const line of typed) results.push(await machine.run('bash', ['-c', line], env));
  expect(results.map(({ code }) => code)).toEqual([0, 8, ...Array(12).fill(0)]);
  const missed = (results[3]?.stdout ?? '').split('\n').filter((row) => /failed|rejected/.test(row));
  expect(missed.map((row) => row.split(' ')[0])).toEqual(['Болд', 'Сараа', 'Дорж']);
  expect(results[8]?.stderr).toBe('Total: 90 credits.\n');

  const outbox = await machine.run('urtuu', ['sandbox', 'outbox', '--json'], env);
  const delivered: { to: string; text: string }[] = JSON.parse(outbox.stdout);
  const reminder = (name: string, day: string) => `Сайн байна уу, ${name}. Таны үзлэг ${day}-нд.`;
  const offer = (name: string) => `${name}, 12-р сард шинжилгээ 20% хямдарлаа.`;
  expect(delivered.map(({ to, text }) => `${to} ${text}`).sort()).toEqual(
    [
      `88112233 ${reminder('Цэцэг', '11/03')}`,
      `94112233 ${reminder('Оюун', '11/06')}`,
      `95112233 ${reminder('Тэмүүлэн', '11/12')}`,
      `95112244 ${reminder('Дорж', '11/05')}`,
      `99110001 ${reminder('Болд', '11/04')}`,
      `99112230 ${reminder('Сараа', '11/04')}`,
      `99112230 ${reminder('Сараа', '11/11')}`,
      `99112233 ${reminder('Бат', '11/03')}`,
      `99112233 ${reminder('Бат', '11/10')}`,
      `99112244 ${offer('Бат')}`,
      `99112244 ${offer('Сараа')}`,
      `99112230 ${offer('Сараа')}`,
      `99112233 ${offer('Бат')}`,
    ].sort(),
  );
}, 60_000);
