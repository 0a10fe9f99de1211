import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partOf, progressWords } from '../../src/cli/commands/bulk/display.js';
import { fitted } from '../../src/cli/terminal/progress.js';
import { Desk } from '../support/desk.js';

const here = new Desk();
const long = 'clinic-november-reminders-week1';
/** One message and one batch of the sandbox. */
const ids = { message: '', batch: '' };

beforeAll(async () => {
  const people = Array.from({ length: 8 }, (_, at) => `Bat ${at},9911220${at},11/0${at + 1}`);
  here.write('list.csv', ['name,phone,date', ...people, 'Dorj,99000001,11/09', 'Oyun,9911 22 40,11/10']);
  const sends = [
    `sms bulk list.csv --text 'Hello {name}, {date}' --job ${long} --yes --wait`,
    "sms bulk list.csv --text 'We are closed on Monday' --job july --yes --wait",
    "email send somebody.named@example.mn --subject 'Your visit' --text Hi --wait",
  ];
  for (const line of sends) await here.run(`${line} --sandbox`);
  const of = async (what: string) => (await here.run(`${what} --limit 1 --value id --sandbox`)).stdout.trim();
  ids.message = await of('messages list --status failed');
  ids.batch = await of('batches list');
});
afterAll(() => here.remove());

const template = "--text 'Сайн байна уу {name}, таны үзлэг {date}-нд. Асуух зүйл байвал 7011-2233.'";
const screens: Record<string, () => string> = {
  'urtuu alone': () => '',
  'the list of help': () => 'help',
  'a topic': () => 'help jobs',
  'a table of a topic': () => 'help exit-codes',
  'help of a command': () => 'jobs report --help',
  'jobs list': () => 'jobs list',
  'jobs show': () => `jobs show ${long}`,
  history: () => 'history',
  'messages list': () => 'messages list --limit 3 --sandbox',
  'messages get': () => `messages get ${ids.message} --sandbox`,
  'batches list': () => 'batches list --sandbox',
  'batches get': () => `batches get ${ids.batch} --sandbox`,
  'service status': () => 'service status --sandbox',
  preview: () => `sms bulk list.csv ${template} --job ${long} --dry-run --sandbox`,
  summary: () => `jobs watch ${long}`,
};

/** Without what differs from run to run, as wide as that. */
const stable = (text: string) =>
  stripVTControlCharacters(text)
    .replaceAll(here.home, '/home/bat')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, '01a1dbd3-4b2b-7000-9152-80051b35d1ef')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-11-21 08:00:00');

/** A terminal breaks commands itself: they are copied. */
const isCommand = (line: string) => /^ +(?:\S+ \| )?urtuu /.test(line);

describe.each([80, 40])('on a terminal of %i columns', (columns) => {
  it.each(Object.entries(screens))('fits, and stays as it is: %s', async (_, lineOf) => {
    const { stdout, stderr } = await here.run(lineOf(), { terminal: columns });
    const shown = stable(stdout + stderr);
    expect(shown).toMatchSnapshot();
    expect(shown.split('\n').filter((line) => line.length > columns && !isCommand(line))).toEqual([]);
  });

  it('fits, and stays as it is: the live line', () => {
    const counts = {
      planned: 2_600,
      ...{ accepted: 1_200, sent: 900, unknown: 18, queued: 282 },
      ...{ rejected: 3, failed: 4, suppressed: 0, moved: 0, in_doubt: 5, pending: 1_388 },
    };
    const state = { counts, credits: 12_000 };
    const words = progressWords(state, { waits: true, secondsLeft: 72, rate: 19.8 });
    const waiting = progressWords(state, {
      ...{ waits: false, secondsLeft: null, rate: 14 },
      waiting: 'service unreachable, next try in 4 s',
    });
    const part = partOf(counts, true);
    const lines = [words, waiting].map((each) => fitted(each, part, columns - 3));
    expect(lines).toMatchSnapshot();
    for (const line of lines) expect(line.length).toBeLessThan(columns - 2);
  });
});
