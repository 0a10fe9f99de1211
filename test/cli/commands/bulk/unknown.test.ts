import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../support/desk.js';
import { answers, refusal } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { countsWith } from '../../bulk/counts.js';
import { numbers } from '../../bulk/memory-plan.js';
import { constant, desk, figures, people, personal } from './desks.js';

const [first = '', second = ''] = numbers(2);
const seeWho = ({ home }: Desk) =>
  `To see who they are: urtuu jobs report july --report ${home}/july-report.csv\n`;

const kinds = [
  ['of a batch', constant],
  ['single SMS, which are listed', personal],
] as const;
const said = '18 sent, 2 unknown: they may have arrived, and are not sent again. ';
const exit3 = (stdout: RegExp, stderr = '') => ({
  ...saying(3, stderr),
  stdout: expect.stringMatching(stdout),
});

describe('messages that may not have arrived', () => {
  it.each(kinds)('are counted apart from those sent, exit 3: %s', async (_, line) => {
    const here = desk(people(20), { unknown: new Set([first, second]) });
    const end = await here.run(`${line} --wait --report report.csv`);
    expect(end).toMatchObject(exit3(/\nsent +18\nunknown +2\n/, said + seeWho(here)));
    expect(end.stderr).not.toContain('Every outcome is known');
    expect(here.read('report.csv').match(/,sent,.*,unknown,/g)).toHaveLength(2);
    // In cron it goes on to end as it did.
    const again = await here.run(`${line} --wait --if-finished ok`);
    expect([again.code, again.stderr.endsWith(seeWho(here))]).toEqual([3, true]);
    expect([...here.project.received().values()]).toEqual(Array(20).fill(1));
  });

  const shown: [command: string, expected: object][] = [
    ['jobs list', { code: 0, stdout: expect.stringMatching(/^july .* finished: 2 unknown$/m) }],
    ['jobs list --json', { code: 0, stdout: expect.stringMatching(/"sent": 18,\s+"unknown": 2,/) }],
    ['jobs show july --json', { code: 0, stdout: expect.stringMatching(/"sent": 18,\s+"unknown": 2,/) }],
    ['jobs watch july', exit3(/\nsent +18\nunknown +2\n/, said)],
    ['jobs watch july --json', exit3(/"sent": 18,\s+"unknown": 2,/)],
  ];
  it.each(
    shown.flatMap(([command, expected]) => kinds.map(([kind, line]) => ({ command, kind, line, expected }))),
  )('are counted apart by $command: $kind', async ({ command, line, expected }) => {
    const here = desk(people(20), { unknown: new Set([first, second]) });
    await here.run(`${line} --wait`);
    expect(await here.run(command)).toMatchObject(expected);
  });

  it('are sent ones of their batch', async () => {
    const here = desk(people(20), { unknown: new Set([first, second]) });
    await here.run(`${constant} --wait`);
    const { batches } = figures((await here.run('jobs show july --json')).stdout);
    expect(batches).toMatchObject([{ recipients: 20, sent: 20, failed: 0, unknown: 2 }]);
  });

  it('are in the one object for programs, with what to do', async () => {
    const here = desk(people(20), { unknown: new Set([first]) });
    const { code, stdout, stderr } = await here.run(`${constant} --wait --json`);
    expect(code).toBe(3);
    expect(figures(stdout)).toMatchObject({ ...countsWith({ sent: 19, unknown: 1 }), exit: 3 });
    expect(JSON.parse(stderr).error).toMatchObject({
      exit: 3,
      message: '19 sent, 1 unknown: it may have arrived, and is not sent again.',
      hint: `To see who they are: urtuu jobs report july --report ${here.home}/july-report.csv`,
    });
  });

  it('are not looked up without --wait, and the summary claims nothing about them', async () => {
    const here = desk(people(3), { unknown: new Set([first]) });
    const { code, stderr } = await here.run(personal);
    expect([code, stderr.endsWith('3 accepted. Nothing is in doubt.\n')]).toEqual([0, true]);
  });

  it.each([
    [
      'no list of messages, so each is read',
      { listing: false, unknown: new Set([first]) },
      3,
      '2 sent, 1 unknown: ',
    ],
    ['no deliveries', {}, 0, '3 sent. Nothing is in doubt.\n'],
    ['deliveries', { unknown: new Set<string>() }, 0, '3 sent. Every outcome is known.\n'],
  ])('are found in a service with %s', async (_, options, exit, said) => {
    const here = desk(people(3), options);
    expect(await here.run(`${personal} --wait`)).toMatchObject(saying(exit, said));
    expect(here.project.received().size).toBe(3);
  });

  it('are none if every message that was not rejected was sent, and the summary says so', async () => {
    const here = desk(people(8), { unknown: new Set(), unsupported: new Set([first, second]) });
    expect(await here.run(`${constant} --wait`)).toMatchObject(
      saying(3, '6 sent, 2 rejected. Every outcome is known.'),
    );
  });

  it('cost one page of a list for many single SMS, not a read each', async () => {
    const here = desk(people(300), { unknown: new Set([first]) });
    expect(await here.run(`${personal} --wait`)).toMatchObject({ code: 3 });
    const reads = here.project.service.requests.filter(({ path }) => path.startsWith('/messages'));
    expect(reads.map(({ path }) => path.includes('delivery=unknown'))).toEqual([true]);
  });
});

describe('a receipt that comes later', () => {
  it.each([
    ['a report', 'jobs report july --report report.csv'],
    ['jobs show --refresh', 'jobs show july --refresh'],
  ])('changes the counts: %s', async (_, line) => {
    for (const send of [constant, personal]) {
      const unknown = new Set([first, second]);
      const here = desk(people(5), { unknown });
      await here.run(`${send} --wait --report report.csv`);
      unknown.delete(first);
      expect(await here.run(line)).toMatchObject({ code: 0 });
      const counts = countsWith({ sent: 4, unknown: 1 });
      expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject(counts);
      unknown.clear();
      expect(await here.run(line)).toMatchObject({ code: 0 });
      const shown = figures((await here.run('jobs show july --json')).stdout);
      expect(shown).toMatchObject(countsWith({ sent: 5 }));
      expect((await here.run('jobs report july --offline')).stdout).not.toContain('unknown');
    }
  });

  it('is looked for while the report of the run is written, and the end says what is known by then', async () => {
    const unknown = new Set([first]);
    const here = desk(people(5), { unknown });
    here.project.options.instead = ({ path }) => void (path.includes('/messages?') && unknown.clear());
    const { code, stdout } = await here.run(`${constant} --wait --report report.csv --json`);
    expect([code, figures(stdout).unknown]).toEqual([0, 0]);
    expect(here.read('report.csv')).not.toContain('unknown');
  });

  it('is not looked for where the service cannot be read: exit 14, and what is known stays', async () => {
    const here = desk(people(5), { unknown: new Set([first]) });
    await here.run(`${constant} --wait`);
    here.project.options.instead = () => refusal(403, 'forbidden');
    expect(await here.run('jobs show july --refresh')).toMatchObject(
      saying(14, 'not all of the job july could be read: forbidden'),
    );
    delete here.project.options.instead;
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({ unknown: 1 });
  });
});

describe('jobs show --refresh', () => {
  it('reads once what was never waited for', async () => {
    const here = desk(people(5), { unknown: new Set([first]), failing: new Set([second]) });
    const { stderr } = await here.run(`${constant} -q`);
    expect(stderr).toBe('');
    const before = await here.run('jobs show july');
    expect(before.stdout).toMatch(/\nqueued +5\n/);
    expect(before.stderr).toBe(
      'To check queued and unknown messages again: urtuu jobs show july --refresh\n',
    );
    const after = await here.run('jobs show july --refresh --json');
    expect(figures(after.stdout)).toMatchObject(countsWith({ sent: 3, unknown: 1, failed: 1 }));
    const requests = here.project.service.requests.length;
    await here.run('jobs show july');
    expect(here.project.service.requests).toHaveLength(requests);
  });

  it('is needed for its --wait-timeout', async () => {
    const here = desk(people(1));
    await here.run(constant);
    expect(await here.run('jobs show july --wait-timeout 1s')).toMatchObject({ code: 2 });
  });
});

describe('a look-up that is refused after everything was accepted', () => {
  const refusals = [
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
  ] as const;

  it.each(refusals)(
    'is exit 14, never one that says that nothing was sent: %i %s',
    async (status, reason) => {
      for (const line of [constant, personal]) {
        const here = desk(people(3), { unknown: new Set() });
        here.project.options.instead = ({ method, path }) =>
          method === 'GET' && /^.(batches|messages)/.test(path) ? refusal(status, reason) : undefined;
        expect(await here.run(`${line} --wait`)).toMatchObject(
          saying(
            14,
            `The outcome could not be read: ${reason}. 3 accepted. Nothing is in doubt. ` +
              'Look again with: urtuu jobs show july --refresh\n',
          ),
        );
        const json = await here.run(`${line.replace('july', 'june')} --wait --json`);
        expect(json.code).toBe(14);
        expect(JSON.parse(json.stderr).error).toMatchObject({ code: reason, exit: 14 });
        expect(figures(json.stdout)).toMatchObject({ accepted: 3, exit: 14 });
      }
    },
  );

  it.each([constant, 'jobs resume july'])(
    'is foreseen where the key cannot read prices either: exit 4, nothing sent: %s',
    async (line) => {
      const here = desk(people(3), { credits: 0 });
      await here.run(`${constant} --allow-partial`);
      here.project.balance = 1_000;
      here.project.options.instead = ({ method }) =>
        method === 'GET' ? refusal(403, 'forbidden') : undefined;
      const sends = here.project.sends.length;
      expect(await here.run(`${line} --wait`)).toMatchObject(saying(4, 'this key cannot read'));
      expect(here.project.sends).toHaveLength(sends);
      expect(await here.run(line)).toMatchObject({ code: 0 });
    },
  );
});

describe('--only unknown', () => {
  const again = "sms bulk report.csv --only unknown --text 'Hello again' --job more";

  /** A desk with the report of a job with two unknown messages of five. */
  async function reported(line: string) {
    const unknown = new Set([first, second]);
    const here = desk(people(5), { unknown });
    await here.run(`${line} --wait --report report.csv`);
    return { here, unknown };
  }

  it.each([
    ['of a batch', constant],
    ['of single SMS', personal],
  ])('sends to those again, and says what that may mean: %s', async (_, line) => {
    const { here } = await reported(line);
    expect(await here.run(`${again} --yes --accept-duplicates`)).toMatchObject(
      saying(0, 'some recipients may get the message twice'),
    );
    expect([...here.project.received()].filter(([, times]) => times > 1).map(([to]) => to)).toEqual([
      first,
      second,
    ]);
  });

  it('sends to them once more, and not with each further job of the same report', async () => {
    const { here } = await reported(constant);
    const send = `${again} --yes --accept-duplicates`;
    expect(await here.run(send)).toMatchObject({ code: 0 });
    const end = await here.run(send.replace('more', 'most'));
    expect(end).toMatchObject(saying(11, 'the job more took 2 of these rows from july'));
    expect([...here.project.received().values()].sort()).toEqual([1, 1, 1, 2, 2]);
  });

  it('needs --accept-duplicates where nobody is asked: --yes is not enough', async () => {
    const { here } = await reported(constant);
    const asked = { terminal: 80, questions: answers(true) };
    for (const setting of [{}, { terminal: 80 }]) {
      expect(await here.run(`${again} --yes`, setting)).toMatchObject(saying(2, 'Add --accept-duplicates'));
    }
    expect((await here.run('sms bulk --only unknown')).stderr).toContain(
      'missing: <file>, --text, --yes or --dry-run, --accept-duplicates',
    );
    expect(here.project.sends).toHaveLength(1);
    expect(await here.run(`${again} --dry-run`)).toMatchObject({ code: 0 });
    expect(await here.run(again, asked)).toMatchObject({ code: 0 });
    expect(asked.questions.asked).toEqual([
      'Send to 2 recipients for 20 credits? Some may already have it, and would get it twice.',
    ]);
  });

  it.each([constant, `${constant} --only failed`])(
    'is needed for --accept-duplicates, which would do nothing: %s',
    async (line) => {
      const here = desk(people(2));
      expect(await here.run(`${line} --accept-duplicates`)).toMatchObject({ code: 2 });
      expect(here.project.sends).toEqual([]);
    },
  );

  it('reads the deliveries anew, and leaves out whose receipt has come', async () => {
    for (const line of [constant, personal]) {
      const { here, unknown } = await reported(line);
      unknown.delete(first);
      expect(await here.run(`${again} --yes --accept-duplicates`)).toMatchObject(
        saying(0, '1 row left out: the delivery is now known'),
      );
      expect([...here.project.received()].filter(([, times]) => times > 1)).toEqual([[second, 2]]);
      unknown.clear();
      const none = await here.run(`${again.replace('more', 'most')} --yes --accept-duplicates`);
      expect(none).toMatchObject(saying(8, 'Nothing is left to send'));
    }
  });

  it.each([
    ['a key that cannot read', refusal(403, 'forbidden'), 'forbidden'],
    ['another project', refusal(404, 'not_found'), 'not_found'],
    ['a service that is away', new Error('ECONNREFUSED'), 'connection_error'],
  ])('refuses what it cannot read, exit 14, nothing sent: %s', async (_, reply, code) => {
    for (const line of [constant, personal]) {
      const { here } = await reported(line);
      const sends = here.project.sends.length;
      here.project.options.instead = ({ method, path }) =>
        method === 'GET' && /^.(batches|messages)/.test(path) ? reply : undefined;
      const end = await here.run(`${again} --yes --accept-duplicates --json`);
      expect(end.code).toBe(14);
      expect(JSON.parse(end.stderr).error).toMatchObject({
        code,
        message: expect.stringContaining('the delivery of 2 unknown rows could not be read'),
        hint: expect.stringMatching(
          code === 'forbidden'
            ? /^Nothing was sent this time\. .* with a key that can read\.$/
            : /again later/,
        ),
      });
      expect(here.project.sends).toHaveLength(sends);
    }
  });

  it('cannot read standard input twice', async () => {
    const { here } = await reported(constant);
    const stdin = here.read('report.csv');
    const line = `${again.replace('report.csv', '-')} --yes --accept-duplicates`;
    expect(await here.run(line, { stdin })).toMatchObject({ code: 2 });
  });

  it('leaves those who were not reached to --only undelivered', async () => {
    const { here } = await reported(constant);
    const line = `${again.replace('unknown', 'undelivered')} --yes`;
    expect((await here.run(line)).stderr).toContain('no row has the status undelivered');
  });
});
