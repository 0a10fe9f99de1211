import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandHome } from './command-home.js';
import { commandLines } from './command-lines.js';
import { constant, desk, people, personal } from './commands/bulk/desks.js';

const home = new CommandHome();
const { here } = home;
beforeAll(async () => {
  await home.open();
  await home.bounce('bounced@example.mn');
});
afterAll(() => home.close());

/** What people and programs read of a message is its text, also where that is a number. */
const ofTexts = /^sandbox outbox/;
const cases = [
  ...commandLines(home.known, (line, setting) => here(line, { cwd: home.path, ...setting })),
  { line: () => 'sms 99112233 hi' },
  { line: () => 'messages list --to 99112233 -v' },
  { line: () => 'service suppressions remove 99112233' },
  { line: () => 'service prune --recipient 88112299 --yes' },
  { line: () => 'jobs report july -o table' },
].filter(({ line }) => !ofTexts.test(line()));

/** A number or an address with all of its characters. */
const recipient = /(?<![\w.-])[5-9]\d{7}(?![\w-])|[\w.+]*[\w.+]{2}@[\w-]+\.\w+/g;
const named = (line: () => string) => line.toString().replace(/^\(\) => /, '');

describe('recipients are masked wherever they are printed', () => {
  it.each(cases.map((each) => [named(each.line), each] as const))('%s', async (_, each) => {
    const { line, prepare, stdin = '' } = { prepare: undefined, ...each };
    for (const [options, env] of [
      [' --mask', {}],
      [' --mask --json', {}],
      ['', { CI: 'true' }],
    ] as const) {
      await prepare?.();
      const words = `${line()}${options}`;
      // A report is a file of its rows, also on standard output.
      if (words === 'jobs report july' || (options.includes('json') && words.includes('-o'))) continue;
      const { stdout, stderr } = await here(words, {
        stdin,
        cwd: home.path,
        env: { ...home.env, ...env },
      });
      expect((stdout + stderr).match(recipient)).toBeNull();
    }
  });

  it.each([constant, personal])('a warning that an answer is for somebody else: %s', async (line) => {
    const here = desk(people(1));
    const body = { id: 'x', to: '99112299', status: 'sent', credits: 10, balance: 5 };
    here.project.options.instead = ({ method }) => (method === 'POST' ? { body } : undefined);
    const said = 'request 0: message x is for another recipient:';
    const open = await here.run(line);
    expect([open.code, open.stderr]).toEqual([6, expect.stringContaining(`${said} 99112299, not 99000000;`)]);
    const other = desk(people(1));
    other.project.options.instead = here.project.options.instead;
    const { code, stderr } = await other.run(`${line} --mask`);
    expect([code, stderr]).toEqual([6, expect.stringContaining(`${said} 9911**99, not 9900**00;`)]);
    expect(stderr).not.toMatch(recipient);
  });

  it('a text with a number in it, which the command for the rejected rows does not repeat', async () => {
    const here = desk([...people(2), 'nobody,Bat']);
    const line = "sms bulk list.csv --text 'Call 99112233' --yes --skip-invalid";
    const { stderr } = await here.run(`${line} --mask`);
    expect(stderr).not.toMatch(recipient);
    expect(stderr).toMatch(/send only those with: urtuu sms bulk \S+ --like \S+ --yes/);
  });
});
