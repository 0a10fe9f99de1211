import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../../support/desk.js';
import type { FakeProject } from '../../../../support/fake-project.js';
import type { Reply } from '../../../../support/run.js';
import { refusal } from '../../../../support/run.js';
import { saying } from '../../../../support/saying.js';
import { constant, desk, figures, people, personal } from '../desks.js';

const header = 'message_id,batch_id,status,error_code,credits,line,delivery,job';
const grouped = "sms bulk list.csv --text 'Hello {name}' --job july --yes";
/** Rows whose texts make batches of two. */
const pairs = (count: number) => people(count).map((row, index) => row.replace(/\d+$/, `${index >> 1}`));

const reads = ({ service }: FakeProject) => service.requests.filter(({ method }) => method === 'GET').length;
const isList = (path: string) => /^\/batches\/[^/]+\/messages/.test(path);

/** What the service says to each question for the messages of a batch; undefined is the truth. */
function listing(here: Desk, answer: (count: number, path: string) => Reply | Error | undefined): void {
  let count = 0;
  here.project.options.instead = ({ path }) => {
    if (!isList(path)) return undefined;
    count += 1;
    return answer(count, path);
  };
}

describe('a report that cannot be written', () => {
  it.runIf(existsSync('/dev/full'))('names the command that writes it', async () => {
    const here = desk(people(2));
    const { code, stderr } = await here.run(`${constant} --report /dev/full`);
    expect(code).toBe(13);
    const command = `jobs report july --report ${here.home}/july-report.csv`;
    expect(stderr).toMatch(/\/dev\/full.*\. Write the report with: urtuu jobs report /);
    expect(stderr.endsWith(` urtuu ${command}\n`)).toBe(true);
    expect(await here.run(command)).toMatchObject({ code: 0 });
    expect(here.read('july-report.csv').match(/,sent,/g)).toHaveLength(2);
    const { error } = JSON.parse((await here.run(`${constant} --again --report /dev/full --json`)).stderr);
    expect(error).toMatchObject({
      exit: 13,
      hint: `Write the report with: urtuu ${command.replaceAll('july', 'july.2')}`,
    });
  });
});

describe('the report of a job', () => {
  it('has the job and what the carrier reported in each row', async () => {
    const here = desk(people(2));
    await here.run(constant);
    listing(here, (_, path) => ({
      body: {
        data: here.project.messages.map((message, index) => ({
          ...message,
          delivery: path.includes('limit=1000') && index === 0 ? 'bounced' : null,
        })),
        next: null,
      },
    }));
    const { stdout, stderr } = await here.run('jobs report july');
    const [first, ...rows] = stdout.trim().split('\r\n');
    expect(first).toBe(`phone,name,${header}`);
    expect(rows.map((row) => row.split(',').slice(-4))).toEqual([
      ['10', '2', 'bounced', 'july'],
      ['10', '3', '', 'july'],
    ]);
    // The first report read the service just now.
    expect(stderr).not.toContain('--refresh');
    expect((await here.run('jobs report july')).stderr).toContain('1 row had no delivery report');
    const before = reads(here.project);
    await here.run('jobs report july --refresh');
    expect(reads(here.project)).toBeGreaterThan(before);
  });

  it('has message and batch of the recipient who is alone in the last batch', async () => {
    const here = desk(people(1_001));
    await here.run(constant);
    await here.run('jobs report july --report out.csv');
    const cells = here.read('out.csv').trim().split('\r\n').at(-1)?.split(',') ?? [];
    const last = here.project.messages.at(-1);
    expect(cells.slice(2, 5)).toEqual([last?.id, last?.batch_id, 'sent']);
    expect(last?.batch_id).toEqual(expect.any(String));
  });

  it('charges a message once, where rows of one recipient were merged', async () => {
    const [first = '', second = ''] = people(2);
    const here = desk([first, second, first, first]);
    const { stdout } = await here.run(`${constant} --report out.csv --json`);
    const charged = here.read('out.csv').trim().split('\r\n').slice(1);
    const credits = charged.map((row) => Number(row.split(',').at(-4)));
    expect(credits).toEqual([10, 10, 0, 0]);
    expect(figures(stdout)).toMatchObject({ credits: 20, merged: 2 });
  });

  it.each([
    ['an old report', 'message_id,batch_id,status,error_code,credits,line'],
    ['a new one', header],
  ])('takes the place of %s that was sent from', async (_, columns) => {
    const here = desk([]);
    const filler = columns.split(',').map((name) => (name === 'status' ? 'failed' : 'x'));
    here.write('list.csv', [`phone,name,${columns}`, `99000000,'=Bat,${filler.join()}`]);
    await here.run(`${constant} --report out.csv`);
    const [first, row] = here.read('out.csv').split('\r\n');
    expect(first).toBe(`phone,name,${header}`);
    // Read back without its guard, and guarded again once.
    expect(row).toMatch(/^99000000,'=Bat,0/);
  });

  it.each([
    ['job,delivery,job_input', 'job,delivery,job_input', 'line,urtuu_delivery,urtuu_job'],
    ['Line,LINE ,urtuu-status', 'Line,LINE,urtuu-status', 'urtuu_line,delivery,job'],
    ['line,urtuu_line,job', 'line,urtuu_line,job', 'urtuu_urtuu_line,delivery,urtuu_job'],
    ['line,error,van', 'line,error,van', 'urtuu_line,delivery,job'],
    ['job_input,line,error', 'job_input,line,error', 'urtuu_line,delivery,job'],
    ['linе,lines,job ', 'linе,lines,job', 'line,delivery,urtuu_job'],
  ])('leaves the columns %s of a list as they are, and names its own apart', async (columns, kept, own) => {
    const here = desk([]);
    here.write('list.csv', [`phone,${columns}`, '99000000,driver,van,x']);
    await here.run(`${constant} --report out.csv`);
    const [first = '', row] = here.read('out.csv').split('\r\n');
    const status = columns.includes('status') ? 'urtuu_urtuu_status' : 'status';
    expect(first).toBe(`phone,${kept},message_id,batch_id,${status},error_code,credits,${own}`);
    expect(row).toMatch(/^99000000,driver,van,x,.*,july$/);
    // The report of a report has the same columns, and --only reads the status that is urtuu's.
    await here.run('sms bulk out.csv --text Again --only sent --job august --yes --report again.csv --again');
    expect(here.read('again.csv').split('\r\n')[0]).toBe(first);
  });

  it.each(['csv', 'tsv'])('as %s is fed in again with every cell as it was', async (format) => {
    const here = desk([]);
    const notes = ['"a\nb"', '"tab\there"', '"""q"" x"', '=1+1', "'=1", 'back\\nslash', '" edge "', '-5'];
    here.write('list.csv', ['phone,note', ...notes.map((note, at) => `9900000${at},${note}`)]);
    const texts = () => here.project.sends.map(({ body }) => body?.text);
    await here.run("sms bulk list.csv --text 'X {note}' --job july --yes");
    const { stdout } = await here.run(`jobs report july -o ${format}`);
    const sent = texts();
    expect(sent).toHaveLength(notes.length);
    writeFileSync(join(here.home, 'again'), stdout);
    const line = "sms bulk again --only sent --text 'X {note}' --again --yes";
    expect(await here.run(line)).toMatchObject({ code: 0 });
    expect(texts().slice(sent.length)).toEqual(sent);
  });

  it('is written again without asking, and asks only for what is not final', async () => {
    const here = desk(pairs(40));
    await here.run(grouped);
    const first = await here.run('jobs report july');
    const before = reads(here.project);
    const again = await here.run('jobs report july');
    expect(again.stdout).toBe(first.stdout);
    expect(again.slept).toBe(0);
    expect(reads(here.project)).toBe(before);
    expect(statSync(here.jobFile('july', 'receipts')).mode & 0o777).toBe(0o600);
    here.project.options.instead = () => new Error('the service is away');
    expect(await here.run('jobs report july')).toMatchObject({ code: 0, stdout: first.stdout, slept: 0 });
  });

  it('asks again for a batch of which something was still queued', async () => {
    const here = desk(pairs(4));
    await here.run(grouped);
    const [one] = here.project.messages;
    if (one === undefined) throw new Error('nothing was sent');
    one.status = 'queued';
    expect((await here.run('jobs report july')).stdout.match(/,queued,/g)).toHaveLength(1);
    one.status = 'failed';
    const before = reads(here.project);
    expect((await here.run('jobs report july')).stdout.match(/,failed,/g)).toHaveLength(1);
    expect(reads(here.project)).toBe(before + 1);
  });

  const damages: [string, (path: string) => void][] = [
    ['torn', (path) => truncateSync(path, statSync(path).size - 30)],
    ['broken in its middle', (path) => writeFileSync(path, flipped(readFileSync(path), 400))],
    ['that of another job', (path) => writeFileSync(path, flipped(readFileSync(path), 40))],
    ['followed by garbage', (path) => appendFileSync(path, '\u0000garbage')],
    ['empty', (path) => truncateSync(path, 0)],
  ];
  it.each(damages)('is the same when what was kept is %s', async (_, damage) => {
    const here = desk(pairs(20));
    await here.run(grouped);
    const { stdout } = await here.run('jobs report july');
    const path = here.jobFile('july', 'receipts');
    damage(path);
    expect((await here.run('jobs report july')).stdout).toBe(stdout);
    // It is whole again.
    const before = reads(here.project);
    expect((await here.run('jobs report july')).stdout).toBe(stdout);
    expect(reads(here.project)).toBe(before);
  });

  it('goes on when five answers in a row are 429', async () => {
    const here = desk(pairs(6));
    listing(here, (count) => (count <= 6 ? refusedFor(1) : undefined));
    const { code } = await here.run(`${grouped} --report out.csv`);
    expect(code).toBe(0);
    expect(here.read('out.csv').match(/,sent,/g)).toHaveLength(6);
  });

  it.each([
    ['404', 404, 'not_found'],
    ['405', 405, 'method_not_allowed'],
  ])('has the figures of batches where a list is answered with %s, exit 0', async (_, status, code) => {
    const here = desk(pairs(6));
    listing(here, () => refusal(status, code));
    const end = await here.run(`${grouped} --wait --report out.csv`);
    expect(end).toMatchObject({ code: 0, stderr: expect.stringContaining('does not list') });
    expect(here.read('out.csv').match(/,sent,/g)).toHaveLength(6);
    // Whether the service has a list is asked once.
    expect(here.project.service.requests.filter(({ path }) => isList(path))).toHaveLength(1);
  });

  it('marks the rows of a batch that is not there, exit 14', async () => {
    const here = desk(pairs(6));
    await here.run(grouped);
    const gone = here.project.messages[2]?.batch_id ?? '';
    here.project.options.instead = ({ path }) =>
      path.startsWith(`/batches/${gone}`) ? refusal(404, 'not_found') : undefined;
    const { code, stdout, stderr } = await here.run('jobs report july');
    expect(code).toBe(14);
    expect(stdout.match(/,queued,not_read,/g)).toHaveLength(2);
    expect(stdout.match(/,sent,,/g)).toHaveLength(4);
    expect(stderr).toContain('2 rows of 1 batch could not be read (not_found)');
  });

  it.each([
    ['may not read', 403, 'forbidden'],
    ['is not known', 401, 'unauthorized'],
  ])('asks for another key, exit 4, where the key %s: later is no help', async (_, status, cause) => {
    for (const [line, rows, what] of [
      [grouped, pairs(6), 'rows of 3 batches could not be read'],
      [personal, people(6), 'The delivery reports of 6 rows could not be read'],
    ] as const) {
      const here = desk(rows);
      await here.run(line);
      here.project.options.instead = ({ method }) => (method === 'GET' ? refusal(status, cause) : undefined);
      const { code, stderr } = await here.run('jobs report july --report out.csv');
      expect([code, stderr]).toEqual([4, expect.stringContaining(`${what} (${cause})`)]);
      expect(stderr).toContain('Run the same command again with a key that can read');
      expect(stderr).not.toContain('later');
      expect(here.read('out.csv').split('\r\n')).toHaveLength(8);
      const json = await here.run('jobs report july --json');
      expect(JSON.parse(json.stderr).error).toMatchObject({ code: cause, exit: 4, retryable: false });
      delete here.project.options.instead;
      expect(await here.run('jobs report july --report out.csv')).toMatchObject({ code: 0 });
    }
  });

  it('asks for another key where that of the run may not read', async () => {
    const here = desk(pairs(6));
    listing(here, () => refusal(403, 'forbidden'));
    const end = await here.run(`${grouped} --report out.csv`);
    expect(end).toMatchObject(
      saying(14, '(forbidden). Write it again, with a key that can read: urtuu jobs report july'),
    );
  });

  it.each([
    ['a fault of the service', () => refusal(500, 'internal')],
    ['no answer', () => new Error('reset')],
    ['a bad request', () => refusal(400, 'invalid_request')],
    ['a key that is revoked', () => refusal(401, 'unauthorized')],
  ])('is incomplete after %s, exit 14, and complete the next time', async (_, answer) => {
    const here = desk(pairs(6));
    listing(here, (count) => (count === 1 ? undefined : answer()));
    const end = await here.run(`${grouped} --wait-timeout 1m --report out.csv`);
    expect(end).toMatchObject(saying(14, /report is incomplete: 4 rows of 2 batches/));
    expect(end.stderr).toContain(` urtuu jobs report july --report ${here.home}/out.csv\n`);
    expect(here.read('out.csv').match(/,not_read,/g)).toHaveLength(4);
    here.project.options.instead = () => undefined;
    const before = reads(here.project);
    expect((await here.run('jobs report july --report out.csv')).code).toBe(0);
    expect(here.read('out.csv').match(/,sent,,/g)).toHaveLength(6);
    expect(reads(here.project)).toBe(before + 2);
  });

  it.each([
    ['a fault of the service', 14, () => refusal(500, 'internal')],
    ['no answer', 14, () => new Error('reset')],
    ['a key that is revoked', 4, () => refusal(401, 'unauthorized')],
  ])('of single emails is incomplete after %s, exit 14, and %i when asked again', async (_, exit, answer) => {
    const here = desk([]);
    here.write('list.csv', ['email,name', 'a@example.mn,A', 'b@example.mn,B']);
    const line = "email bulk list.csv --subject x --text 'Hello {name}' --job july --yes";
    here.project.options.instead = ({ path }) => (path.startsWith('/messages') ? answer() : undefined);
    const end = await here.run(`${line} --report out.csv`);
    expect(end).toMatchObject(saying(14, 'The report is incomplete: 2 rows could not be read'));
    expect(here.read('out.csv').match(/,queued,not_read,/g)).toHaveLength(2);
    const again = await here.run('jobs report july');
    expect(again.code).toBe(exit);
    expect(again.stdout.match(/,queued,not_read,/g)).toHaveLength(2);
  });

  it('of single SMS has their status, and ends with 4 only where the deliveries were asked for', async () => {
    const here = desk(people(2));
    here.project.options.instead = ({ path }) =>
      path.startsWith('/messages') ? refusal(401, 'unauthorized') : undefined;
    expect(
      (await here.run("sms bulk list.csv --text 'Hi {name}' --job july --yes --report out.csv")).code,
    ).toBe(0);
    const { code, stdout, stderr } = await here.run('jobs report july');
    expect(code).toBe(4);
    expect(stdout.match(/,sent,,/g)).toHaveLength(2);
    expect(stderr).toContain('The delivery reports of 2 rows could not be read (unauthorized)');
    expect((await here.run('jobs report july --offline')).code).toBe(0);
  });

  it('waits no longer than --wait-timeout for a Retry-After of a day, and says all it knows before', async () => {
    const here = desk(pairs(6));
    listing(here, () => refusedFor(86_400));
    const end = await here.run(`${grouped} --wait-timeout 5s --report out.csv`);
    expect(end.code).toBe(14);
    expect(end.slept).toBeLessThan(8_000);
    expect(end.stdout).toMatch(/queued +6/);
    const certain = end.stderr.indexOf('6 accepted.');
    const incomplete = end.stderr.indexOf('incomplete');
    expect(certain).toBeGreaterThan(-1);
    expect(incomplete).toBeGreaterThan(certain);
    const { code, slept } = await here.run('jobs report july --wait-timeout 5s');
    expect([code, slept < 8_000]).toEqual([14, true]);
  });

  it('tells a program of its end in the exit of the one object', async () => {
    const here = desk(pairs(4));
    listing(here, () => refusedFor(86_400));
    const { code, stdout, stderr } = await here.run(`${grouped} --wait-timeout 5s --report out.csv --json`);
    expect([code, figures(stdout).exit]).toEqual([14, 14]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { exit: 14, message: expect.stringContaining('The report is incomplete: 4 rows') },
    });
  });

  it('is written from what is known after one Ctrl-C', async () => {
    const here = desk(pairs(6));
    let interrupt = () => {};
    const onSignal = (listener: (signal: 'SIGINT') => void) => {
      interrupt = () => listener('SIGINT');
      return () => {};
    };
    listing(here, (count) => {
      if (count === 2) interrupt();
      return count === 1 ? undefined : refusedFor(86_400);
    });
    const end = await here.run(`${grouped} --report out.csv`, { onSignal });
    expect(end.code).toBe('SIGINT');
    expect(end.slept).toBeLessThan(5_000);
    expect(here.read('out.csv').match(/,not_read,/g)).toHaveLength(4);
    expect(end.stderr).toContain('6 accepted.');
    expect(existsSync(`${here.home}/out.csv.part`)).toBe(false);
  });

  it('does not take a message that has lost its recipient for a stranger', async () => {
    const here = desk(people(3));
    await here.run(constant);
    listing(here, () => ({
      body: { data: here.project.messages.map((message) => ({ ...message, to: '' })), next: null },
    }));
    const { code, stdout } = await here.run('jobs report july');
    expect(code).toBe(0);
    expect(stdout).not.toContain('in_doubt');
    expect(stdout.match(/,sent,,/g)).toHaveLength(3);
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({ in_doubt: 0 });
  });

  it('is incomplete where it is not known whose message had failed', async () => {
    const failing = new Set(['99000000']);
    const here = desk(people(4), { failing });
    await here.run(constant);
    const erased = (to: string) => ['99000000', '99000001'].includes(to);
    listing(here, () => ({
      body: {
        data: here.project.messages.map((message) => (erased(message.to) ? { ...message, to: '' } : message)),
        next: null,
      },
    }));
    const { code, stdout, stderr } = await here.run('jobs report july');
    expect(code).toBe(14);
    expect(stderr).toContain('The report is incomplete: 2 rows of 1 batch could not be read (not_found).');
    expect(stdout.match(/,queued,not_read,/g)).toHaveLength(2);
    expect(stdout.match(/,sent,,/g)).toHaveLength(2);
  });
});

describe('a batch that is completed without all of its recipients', () => {
  const completing = ({ project }: Desk, said: object) => {
    project.options.instead = ({ method, path }) =>
      method === 'GET' && /^\/batches\/[^/]+$/.test(path)
        ? { body: { id: path.split('/')[2], status: 'completed', total: 3, ...said } }
        : undefined;
  };

  it.each([
    ['too few', { sent: 1, failed: 0 }, { accepted: 1, failed: 0, in_doubt: 2 }],
    ['nobody', { sent: 0, failed: 0 }, { accepted: 0, failed: 0, in_doubt: 3 }],
    ['some failed', { sent: 1, failed: 1 }, { accepted: 1, failed: 1, in_doubt: 1 }],
    ['too many', { sent: 5, failed: 0 }, { accepted: 0, failed: 0, in_doubt: 3 }],
  ])('leaves the others in doubt, exit 6: %s', async (_, said, expected) => {
    const here = desk(people(3));
    completing(here, said);
    const end = await here.run(`${constant} --wait --json`);
    expect(end.code).toBe(6);
    expect(figures(end.stdout)).toMatchObject({ planned: 3, pending: 0, rejected: 0, ...expected, exit: 6 });
    expect(end.stderr).toContain('counted as in doubt');
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject(expected);
  });

  it('names the doubt and the report of who they are, now and later, and promises no retry', async () => {
    const here = desk(people(3));
    completing(here, { sent: 1, failed: 0 });
    const report = `urtuu jobs report july --report ${here.home}/july-report.csv`;
    const first = await here.run(`${constant} --wait`);
    expect(first).toMatchObject({ code: 6 });
    expect(first.stderr).toContain(`2 in doubt. To see who they are: ${report}\n`);
    const again = await here.run(constant);
    expect(again).toMatchObject({ code: 11 });
    expect(again.stderr).toContain(
      `1 of 3 were accepted, 2 in doubt, and nothing was sent this time. Its report names those in doubt (${report}). To send to everyone again, also to those who got it, add --again`,
    );
    const allowed = await here.run(`${constant} --if-finished ok --json`);
    expect(allowed.code).toBe(6);
    const { error } = JSON.parse(allowed.stderr);
    expect(error).toMatchObject({
      code: 'in_doubt',
      retryable: false,
      message: 'The job july finished before with 2 in doubt; nothing was sent this time.',
      hint: `To see who they are: ${report}`,
    });
    const watched = await here.run('jobs watch july --json');
    expect([watched.code, JSON.parse(watched.stderr).error]).toMatchObject([6, { retryable: false }]);
    expect(here.project.sends).toHaveLength(1);
  });

  it.each([
    ['no figures', {}],
    ['figures that are no numbers', { sent: 'all', failed: null }],
  ])('is asked again with %s, and ends with 14', async (_, said) => {
    const here = desk(people(3));
    completing(here, said);
    const end = await here.run(`${constant} --wait --wait-timeout 10s --json`);
    expect(end.code).toBe(14);
    expect(figures(end.stdout)).toMatchObject({ accepted: 3, in_doubt: 0 });
  });
});

const refusedFor = (seconds: number): Reply => ({
  ...refusal(429, 'rate_limited'),
  headers: { 'Retry-After': String(seconds) },
});

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}
