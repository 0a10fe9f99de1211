import { describe, expect, it } from 'vitest';
import { desk, figures } from './desks.js';

const rows = ['99000000,Bat', '99000001,Tsetsegmaa \u001b[31m\u202e call 99000001'];
const line = "sms bulk list.csv --text 'Hi {name}' --job july";

describe('the preview of a bulk send', () => {
  it('is in the preflight and in --dry-run, and hurts no terminal', async () => {
    const here = desk(rows);
    const shown = [
      'First       to 99000000, 1 part',
      '            Hi Bat',
      'Longest     to 99000001, 1 part',
      '            Hi Tsetsegmaa \\u001b[31m\\u202e call 99000001',
      '',
    ].join('\n');
    expect((await here.run(`${line} --dry-run`)).stdout).toContain(shown);
    expect((await here.run(`${line} --yes`)).stderr).toContain(shown);
  });

  it('is one bare value with --value', async () => {
    const { code, stdout } = await desk(rows).run(`${line} --dry-run --value credits`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '20\n' });
  });

  it.each(['--dry-run', '--yes'])("refuses a name that cannot be a job's, with %s", async (option) => {
    const { code, stderr } = await desk(rows).run(`sms bulk list.csv --text Hi --job "it's" ${option}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining("'it's' is not a job name")]);
  });

  it('says when the first message is the longest', async () => {
    const { stdout } = await desk([...rows].reverse()).run(`${line} --dry-run`);
    expect(stdout).toContain('First       to 99000001, 1 part, also the longest\n');
    expect(stdout).not.toContain('Longest');
  });

  it.each([
    ['one recipient gets both', ['99110033,Bat', '99110033,Tsetsegmaa'], '--allow-repeats'],
    ['their masked recipients look the same', ['99110033,Bat', '99111133,Tsetsegmaa'], '--mask'],
  ])('shows the longest message where %s', async (_, list, option) => {
    const { stdout } = await desk(list).run(`${line} --dry-run ${option}`);
    expect(stdout).toMatch(/^First .*, 1 part\n +Hi Bat\nLongest .*\n +Hi Tsetsegmaa\n/m);
  });

  it('says that a message of links alone is not sent on a route without links', async () => {
    const { stdout } = await desk(['91000000,Bat']).run(
      "sms bulk list.csv --text 'https://example.mn/a' --dry-run",
    );
    expect(stdout).toContain('(not sent: only links, which this operator does not carry)\n');
  });

  it('says that an email of pictures has no text', async () => {
    const here = desk([]);
    here.write('mails.csv', ['email', 'bat@example.mn']);
    const { stdout } = await here.run("email bulk mails.csv --subject x --html '<img src=a.png>' --dry-run");
    expect(stdout).toContain('            x\n            (no text)\n');
  });

  it('counts the rows with a fallback, of texts on the command line, in a file and of --like, and of every field', async () => {
    const here = desk(['99000000,Bat', '99000001, ', '99000002,']);
    const fallback = '\nFallback    name: 2 rows\nFirst       to 99000000, 1 part';
    here.write('text.txt', ['Hi {name|you}{?name}, {name}{/name}']);
    const first = await here.run('sms bulk list.csv --text-file text.txt --job july --yes');
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining(fallback)]);
    expect((await here.run('sms bulk list.csv --like july --dry-run')).stdout).toContain(fallback);
    here.write('mails.csv', ['email,name', 'a@example.mn,', 'b@example.mn,Bat']);
    const html = "--html '<p>{?name}{name}{/name}</p>' --subject 'Hi {name|you}' --from-name '{name|Us}'";
    const mails = await here.run(`email bulk mails.csv ${html} --dry-run`);
    expect(mails.stdout).toContain('Fallback    name: 1 row\n');
  });

  it('warns of cells that programs write for no value, with their count and the first line', async () => {
    const cells = ['NULL', 'Bat', 'NaN', 'None', 'null', 'undefined', 'nan', 'n/a', '(null)', 'Nullo'];
    const here = desk(cells.map((cell, at) => `9900000${at},${cell}`).reverse());
    const warning = 'warning: list.csv:3: name: "(null)" looks like a missing value (8 rows)\n';
    expect((await here.run(`${line} --dry-run`)).stderr).toContain(warning);
    expect((await here.run(`${line} --yes`)).stderr).toContain(warning);
    expect((await here.run('sms bulk list.csv --text Hi --dry-run')).stderr).not.toContain('missing value');
  });

  it('is masked as recipients are', async () => {
    const here = desk(rows);
    const { stdout } = await here.run(`${line} --dry-run --mask`);
    expect(stdout).toContain('First       to 9900**00, 1 part');
    expect(stdout).not.toMatch(/9900000\d/);
    const program = await here.run(`${line} --dry-run --json --mask`);
    expect(program.stdout).not.toMatch(/9900000\d/);
    const ci = await here.run(`${line} --yes`, {
      env: { URTUU_API_KEY: `urtuu_${'A'.repeat(40)}`, CI: '1' },
    });
    expect(ci.stderr).toContain('Longest     to 9900**01');
    expect(ci.stderr).not.toMatch(/9900000\d/);
  });

  it('is in every format for programs', async () => {
    const here = desk(rows);
    const first = { to: '99000000', subject: null, text: 'Hi Bat', parts: 1 };
    const json = figures((await here.run(`${line} --dry-run --json`)).stdout);
    expect(json).toMatchObject({ first_message: first, longest_message: { to: '99000001', parts: 1 } });
    const csv = await here.run(`${line} --dry-run -o csv --columns first_message`);
    expect(csv.stdout).toBe('first_message\r\n99000000: Hi Bat\r\n');
  });

  it('shows subject and text of an email', async () => {
    const here = desk([]);
    here.write('mails.csv', ['email,name', 'bat@example.mn,Bat']);
    const { stdout } = await here.run(
      "email bulk mails.csv --subject 'For {name}' --html '<p>Hi <b>{name}</b></p>' --dry-run",
    );
    expect(stdout).toContain('Message     to bat@example.mn\n            For Bat\n            Hi Bat\n');
  });
});

describe('the preview of texts and values that are repaired', () => {
  const list = ['99000000,Bat\u2019s ', '99000001,"\u00a0Dorj"', '99000001,Dorj', '99000002,Jose\u0301'];

  it('names what made a Latin text Cyrillic, in 80 columns', async () => {
    const { stdout } = await desk(list).run("sms bulk list.csv --text 'Order of {name}' --dry-run");
    expect(stdout).toContain(
      [
        'Recipients  3 (1 merged, 0 rejected, 3 repaired)',
        'Repaired    2 with blanks around a value, 1 with decomposed letters',
        'First       to 99000000, 1 part',
        '            Order of Bat\u2019s',
        'Longest     to 99000002, 1 part',
        '            Order of Jos\u00e9',
        `Not GSM     U+2019 "\u2019" at 13 ("'" in GSM): the text is Cyrillic; --gsm replaces`,
        '            quotes, dashes and blanks',
        '',
      ].join('\n'),
    );
  });

  it('says what --gsm replaces', async () => {
    const here = desk(list);
    const { stdout } = await here.run("sms bulk list.csv --text 'Order \u2013 {name}' --gsm --dry-run");
    expect(stdout).toContain('Replaced    quotes, dashes or blanks in 3 messages (--gsm)\n');
    expect(stdout).toContain("Order - Bat's\n");
    expect(await here.run("sms bulk list.csv --text 'Order \u2013 {name}' --gsm --yes")).toMatchObject({
      code: 0,
    });
    const texts = here.project.sends.map(({ body }) => body?.text);
    expect(texts.sort()).toEqual(["Order - Bat's", 'Order - Dorj', 'Order - Jos\u00e9']);
  });
});
