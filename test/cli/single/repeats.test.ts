import { describe, expect, it } from 'vitest';
import { testFolder } from '../../support/folders.js';
import { batch, emailResult } from '../../support/resources.js';
import { fakeService, type Reply, refusal, run } from '../../support/run.js';
import { saying } from '../../support/saying.js';

const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

describe('a repeat of an email that was queued', () => {
  const queued = emailResult();
  const error = { code: 'provider_failed', message: 'refused' };
  const failed = { body: { ...queued, status: 'failed', credits: 0, error } };
  /** Accepts it, or repeats that, and reads it as told. */
  const repeating = (
    read: Reply | Error,
    headers: Record<string, string> = { 'Idempotency-Replayed': 'true' },
  ) => fakeService(({ method }) => (method === 'POST' ? { status: 202, body: queued, headers } : read));
  const mail = `Message-ID: <1@cron>\nTo: ${queued.to}\nSubject: s\n\nhi\n`;
  const commands = [
    [`email send ${queued.to} --subject s --text t --idempotency-key k`, 9, /use a new idempotency key/],
    ['sendmail -t', 69, /remove its Message-ID, or give it a new one/],
  ] as const;

  it.each(commands)(
    'is a failure if it failed since, with the way to send it anew: %s',
    async (line, exit, hint) => {
      const home = testFolder();
      const service = repeating(failed);
      const { code, stdout, stderr } = await run(line, { ...service, home, stdin: mail });
      expect(code).toBe(exit);
      expect(stderr).toMatch(/the message was not sent and was refunded/);
      expect(stderr).toMatch(hint);
      expect(stdout).not.toContain('queued');
      const history = JSON.parse((await run('history --json', { home })).stdout);
      expect(history).toMatchObject([{ id: queued.id, status: 'failed' }]);
    },
  );

  it.each<[string, Reply | Error]>([
    ['sent', { body: { ...queued, status: 'sent' } }],
    ['still queued', { body: queued }],
    ['sent, and erased', { body: { ...queued, status: 'sent', to: '' } }],
  ])('is a success if it is %s', async (_, read) => {
    for (const [line] of commands) {
      const { code, stderr } = await run(line, { ...repeating(read), stdin: mail });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('warning') });
    }
  });

  it.each<[string, Reply | Error]>([
    ['a key that may only send', refusal(403, 'forbidden')],
    ['a service without look-ups', refusal(404, 'not_found')],
    ['no connection', reset],
    ['an answer about another message', { body: { ...queued, id: 'other' } }],
  ])('is a success with a warning after %s', async (_, read) => {
    for (const [line] of commands) {
      expect(await run(line, { ...repeating(read), stdin: mail })).toMatchObject(
        saying(0, 'warning: accepted earlier; could not check if it was sent: '),
      );
    }
  });

  it('is looked up with JSON, with --wait, and after an answer that was lost', async () => {
    const [[line]] = commands;
    const json = await run(`${line} --json`, repeating(failed));
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'failed', replayed: true });
    expect(JSON.parse(json.stderr.slice(json.stderr.indexOf('{'))).error).toMatchObject({
      code: 'failed',
      exit: 9,
    });
    expect(await run(`${line} --wait`, repeating(failed))).toMatchObject({ code: 9 });
    const posts: (Reply | Error)[] = [reset, { status: 202, body: queued }];
    const lost = fakeService(({ method }) => (method === 'POST' ? (posts.shift() as Reply) : failed));
    expect(await run('sendmail -t', { ...lost, stdin: mail })).toMatchObject({ code: 69 });
  });

  it('is not looked up where it is new', async () => {
    for (const [line] of commands) {
      const service = repeating(failed, {});
      expect(await run(line, { ...service, stdin: mail })).toMatchObject({ code: 0 });
      expect(service.requests.map(({ method }) => method)).toEqual(['POST']);
    }
  });

  it('to several is a failure that says how to send it anew', async () => {
    const done = batch({ channel: 'email', total: 2, failed: 2, status: 'completed' });
    const service = fakeService(({ method }) => ({
      body: method === 'POST' ? { ...done, failed: 0, balance: 1 } : done,
    }));
    const stdin = mail.replace('To: ', 'To: other@example.mn, ');
    expect(await run('sendmail -t', { ...service, stdin })).toMatchObject(
      saying(69, 'They were refunded. To send it again, remove its Message-ID, or give it a new one.'),
    );
  });

  it('by `api` prints the first answer, and says that it is one', async () => {
    const line = `api POST /v1/email -f to=${queued.to} -f subject=s -f text=t --idempotency-key k`;
    const { code, stdout, stderr } = await run(line, repeating(failed));
    expect([code, JSON.parse(stdout).status]).toEqual([0, 'queued']);
    expect(stderr).toContain('this is the first answer, nothing new was sent');
  });
});
