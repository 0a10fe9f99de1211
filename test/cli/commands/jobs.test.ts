import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../support/run.js';
import { constant, desk, figures, partly, people } from './bulk/desks.js';

describe('urtuu jobs', () => {
  it('lists, shows and removes them', async () => {
    const here = desk(people(5), { credits: 25 });
    expect(await here.run('jobs list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    await here.run(partly);
    expect(JSON.parse((await here.run('jobs list --json')).stdout)).toMatchObject([
      { job: 'july', state: 'unfinished', planned: 5, accepted: 2, pending: 3 },
    ]);
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({ exit: 7 });
    expect(await here.run('jobs remove july')).toMatchObject({ code: 11 });
    expect(await here.run('jobs remove july --force')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Removed the job july: 2 sent, 3 pending.\n',
    });
    expect(here.jobs).toEqual([]);
    expect(await here.run('jobs show july')).toMatchObject({ code: 12 });
    expect(await here.run('jobs show ../../etc')).toMatchObject({ code: 12 });
  });

  it('shows one to a person as it is read, without what there is none of', async () => {
    const here = desk(people(1_002), { credits: 20 });
    await here.run(`${partly} --concurrency 1`);
    const { stdout } = await here.run('jobs show july');
    expect(stdout).toMatch(/\nplanned +1,002\nsent +2\npending +1,000\ncredits +20\n$/);
    expect((await here.run('jobs show july --columns planned,failed')).stdout).toMatch(
      /^planned +1,002\nfailed +0\n$/,
    );
  });

  it('calls its state the same to a person with --columns, and as JSON does to a program', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(partly);
    const words = 'stopped: out of credits';
    for (const line of [
      'jobs list',
      'jobs show july',
      'jobs list --columns state',
      'jobs show july --columns state',
    ])
      expect([line, (await here.run(line)).stdout]).toEqual([line, expect.stringContaining(words)]);
    expect((await here.run('jobs list -o csv --columns state,reason')).stdout).toBe(
      'state,reason\r\nunfinished,out of credits\r\n',
    );
    expect((await here.run('jobs show july --value state')).stdout).toBe('unfinished\n');
  });

  it.each([
    [429, 'rate_limited', 'rate limited', { exit: 5, reason: 'rate limited' }],
    [503, 'unavailable', 'service unavailable', { exit: 6, reason: 'in doubt' }],
  ])('says in words what stopped one: %i %s', async (status, code, words, { exit, reason }) => {
    const here = desk(people(2));
    here.project.options.instead = ({ method }) =>
      method === 'POST' ? { ...refusal(status, code), headers: { 'Retry-After': '30' } } : undefined;
    const stopped = await here.run("sms bulk list.csv --text 'Hello' --yes --max-wait 5s");
    expect(stopped.code).toBe(exit);
    expect(stopped.stderr).toContain(`Stopped: ${words}. 0 accepted`);
    expect((await here.run('jobs list --value reason')).stdout).toBe(`${reason}\n`);
  });

  it('says how much is left of one that it does not remove', async () => {
    const here = desk(people(1_002), { credits: 20 });
    await here.run(`${partly} --concurrency 1`);
    const { stderr } = await here.run('jobs remove july');
    expect(stderr).toContain('is not finished: 1,000 pending, 0 in doubt');
    expect(stderr).toMatch(/or resume it: urtuu jobs resume july\n$/);
  });

  it('lists them as a table where the terminal has 80 columns', async () => {
    const here = desk(people(3));
    await here.run("sms bulk list.csv --text 'Hello' --yes");
    await here.run("sms bulk list.csv --text 'Hello' --yes --again");
    const { stdout } = await here.run('jobs list --no-color', { terminal: 80 });
    const [header, ...lines] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/^JOB +CREATED +ACCEPTED +CREDITS +SOURCE +STATE$/);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^sms-[0-9a-f]{20}\.2 +2026-11-\d\d +3 +30 +list\.csv +finished$/);
  });

  it('resumes without the file, and only at the service it was made for', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(partly);
    rmSync(`${here.home}/list.csv`);
    here.project.balance = 1_000;
    const elsewhere = await here.run('jobs resume july --base-url http://127.0.0.1:9999/v1');
    expect(elsewhere).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    const again = await here.run('jobs resume july');
    expect(again).toMatchObject({ code: 11 });
    // It is no option of this command.
    expect(again.stderr).toContain('add --again to the bulk command');
  });

  it('writes the report later, also to standard output', async () => {
    const here = desk(people(2));
    await here.run(constant);
    const untold = await here.run('jobs report july --offline');
    expect(untold.stdout).toMatch(/^99000000,Bat 0,,[0-9a-f-]{36},queued,,10,2,,july\r$/m);
    const { stdout } = await here.run('jobs report july');
    expect(stdout).toMatch(/^99000000,Bat 0,[0-9a-f-]{36},[0-9a-f-]{36},sent,,10,2,,july\r$/m);
    const before = here.project.service.requests.length;
    const offline = await here.run('jobs report july --offline');
    expect(offline.stdout).toBe(stdout);
    expect(here.project.service.requests.length).toBe(before);
    await here.run('jobs report july --report out.csv');
    expect(here.read('out.csv')).toBe(stdout);
    expect(existsSync(`${here.home}/out.csv.part`)).toBe(false);
  });

  it('shows the batches of one to programs', async () => {
    const here = desk(people(1_002));
    await here.run(constant);
    const { batches } = JSON.parse((await here.run('jobs show july --json')).stdout);
    expect(batches.map(({ recipients }: { recipients: number }) => recipients)).toEqual([1_000, 2]);
    expect(batches[0].id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('urtuu jobs report', () => {
  const sent = async (header = 'phone,name') => {
    const here = desk([]);
    here.write('list.csv', [header, '99000000,Bat', '99000001,=1+1', 'nobody,-5']);
    await here.run(`${constant} --skip-invalid`);
    return here;
  };
  const columns = [
    ...['phone', 'name', 'message_id', 'batch_id', 'status', 'error_code', 'credits', 'line'],
    ...['delivery', 'job'],
  ];

  it('honours the format, the columns and --no-header, with the same fields in each', async () => {
    const here = await sent();
    const rows = JSON.parse((await here.run('jobs report july --json')).stdout);
    expect(rows.map(Object.keys)).toEqual([columns, columns, columns]);
    expect(rows[1]).toMatchObject({ phone: '99000001', name: '=1+1', status: 'sent', credits: 10, line: 3 });
    expect(rows[2]).toMatchObject({ message_id: null, status: 'rejected', credits: null });
    const ndjson = await here.run('jobs report july -o ndjson');
    expect(
      ndjson.stdout
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row)),
    ).toEqual(rows);
    const tsv = await here.run('jobs report july -o tsv');
    expect(tsv.stdout.split('\n')[0]).toBe(columns.join('\t'));
    const chosen = await here.run('jobs report july --columns phone,status --no-header');
    expect(chosen.stdout).toBe('99000000,sent\r\n99000001,sent\r\nnobody,rejected\r\n');
    const asked = await here.run('jobs report july -o csv --columns phone,status --no-header');
    expect(asked.stdout).toBe(chosen.stdout);
    expect((await here.run('jobs report july -o table --columns name,line')).stdout).toBe(
      'NAME  LINE\nBat   2\n=1+1  3\n-5    4\n',
    );
    expect((await here.run('jobs report july --columns')).stdout).toBe(`${columns.join('\n')}\n`);
    expect(await here.run('jobs report july --columns nope')).toMatchObject({ code: 2, stdout: '' });
  });

  it('writes the format into a file', async () => {
    const here = await sent();
    await here.run('jobs report july --json --report r.json');
    expect(JSON.parse(here.read('r.json'))).toHaveLength(3);
    await here.run('jobs report july --report r.csv --columns status');
    expect(here.read('r.csv')).toBe('status\r\nsent\r\nsent\r\nrejected\r\n');
  });

  it('masks with --mask, what is wrong with a recipient included', async () => {
    const here = await sent();
    const { stdout } = await here.run('jobs report july --mask --columns phone,error_code -o ndjson');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row)),
    ).toEqual([
      { phone: '9900**00', error_code: null },
      { phone: '9900**01', error_code: null },
      { phone: 'no**dy', error_code: 'phone: "no**dy" is not a phone number' },
    ]);
    for (const format of ['', '--json', '-o tsv'])
      expect((await here.run(`jobs report july --mask ${format}`)).stdout).not.toMatch(/9900000/);
  });

  it('keeps the byte order mark of the input, and can be fed in again', async () => {
    const here = await sent('\ufeffphone,name');
    await here.run('jobs report july --report r.csv');
    expect(here.read('r.csv')).toMatch(/^\ufeffphone,/);
    expect((await here.run('jobs report july')).stdout).toMatch(/^\ufeffphone,/);
    expect((await here.run('jobs report july --json')).stdout).toMatch(/^\[/);
    const again = await here.run("sms bulk r.csv --only sent --text 'Once more' --dry-run --json");
    expect(JSON.parse(again.stdout)).toMatchObject({ recipients: 2 });
    const marked = await here.run(
      "sms bulk list.csv --skip-invalid --text 'Other' --yes --report own.csv --job other",
    );
    expect(marked.code).toBe(3);
    expect(here.read('own.csv')).toMatch(/^\ufeffphone,/);
  });
});
