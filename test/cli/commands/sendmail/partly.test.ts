import { expect, it } from 'vitest';
import { FakeProject, type ProjectOptions } from '../../../support/fake-project.js';
import { testFolder } from '../../../support/folders.js';
import { batch } from '../../../support/resources.js';
import { refusal, run } from '../../../support/run.js';

const mail = (to: string) => `To: ${to}\nSubject: s\nMessage-ID: <1@host>\n\nhi\n`;
const send = async (to: string, options: ProjectOptions = {}, words = '') => {
  const project = new FakeProject(options);
  const { fetch, requests } = project.service;
  return { ...(await run(`sendmail -t ${words}`, { fetch, stdin: mail(to) })), requests };
};

it('names whom a mail to several did not reach, with an exit that asks for no repeat', async () => {
  const home = testFolder();
  const here = (line: string, stdin = '') => run(line, { home, env: { URTUU_SANDBOX: '1' }, stdin });
  await here('sandbox settings set caps.per_10_minutes 1');
  await here('email send full@example.mn --subject s --text t');
  const { code, stdout, stderr } = await here(
    'sendmail -t',
    mail('a@example.mn, full@example.mn, b@example.mn'),
  );
  expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
  expect(stderr).toContain('1 of 3 recipients failed: full@example.mn (recipient_rate_limited)');
  expect(stderr).toContain('only to those that failed');
  const outbox = JSON.parse((await here('sandbox outbox --json')).stdout);
  expect(outbox.map(({ to }: { to: string }) => to).sort()).toEqual([
    'a@example.mn',
    'b@example.mn',
    'full@example.mn',
  ]);
});

it.each<[string, ProjectOptions, number, RegExp | '']>([
  ['all are reached', {}, 0, ''],
  ['one fails', { failing: new Set(['b@ex.mn']) }, 69, /^urtuu: 1 of 2 recipients failed: b@ex\.mn/m],
  [
    'all fail',
    { failing: new Set(['a@ex.mn', 'b@ex.mn']) },
    69,
    /2 of 2 recipients failed: a@ex\.mn.*b@ex\.mn/,
  ],
  [
    'one is on the do-not-send list',
    { suppressed: new Set(['b@ex.mn']) },
    69,
    /failed: b@ex\.mn \(recipient_suppressed\)\n {2}The others were accepted\.\n/,
  ],
  [
    'the service lists none',
    { failing: new Set(['b@ex.mn']), listing: false },
    69,
    /1 of 2 recipients failed$/m,
  ],
])('ends by a short look at the batch where %s', async (_, options, exit, reason) => {
  const { code, stderr } = await send('a@ex.mn, b@ex.mn', options);
  expect(code).toBe(exit);
  expect(stderr).toMatch(reason === '' ? /^$/ : reason);
});

it('masks the names', async () => {
  const { stderr } = await send('a@ex.mn, b@ex.mn', { failing: new Set(['b@ex.mn']) }, '--mask');
  expect(stderr).toContain('b***@ex.mn');
  expect(stderr).not.toContain('b@ex.mn');
});

it.each([
  [
    'does not answer',
    new Error('reset'),
    /^warning: accepted for 2 recipients; could not check for immediate failures: the connection failed .*\n$/,
  ],
  [
    'refuses the key',
    refusal(403, 'forbidden'),
    /^warning: accepted for 2 recipients; could not check for immediate failures: .*forbidden\n$/,
  ],
  ['is still at work', { body: batch({ channel: 'email' }) }, /^$/],
])('was accepted, whatever the look finds, where the service %s', async (_, answer, said) => {
  const instead: ProjectOptions['instead'] = ({ method }) => (method === 'GET' ? answer : undefined);
  const { code, stderr, requests, slept } = await send('a@ex.mn, b@ex.mn', { instead });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(said) });
  expect(requests.length).toBeLessThanOrEqual(4);
  expect(slept).toBeLessThanOrEqual(2_000);
});

it('looks at no batch for one recipient', async () => {
  expect((await send('a@ex.mn')).requests).toHaveLength(1);
});
