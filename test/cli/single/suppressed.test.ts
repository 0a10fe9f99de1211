import { describe, expect, it } from 'vitest';
import { emailResult } from '../../support/resources.js';
import { fakeService, refusal, run } from '../../support/run.js';
import { saying } from '../../support/saying.js';

const mail = 'Message-ID: <1@cron>\nTo: bat@ex.mn\nSubject: s\n\nhi\n';
const refusing = () => fakeService(() => refusal(422, 'recipient_suppressed', { reason: 'opt_out' }));
const elsewhere = '--base-url https://sms.example.mn/v1';

describe('a recipient on the do-not-send list', () => {
  it.each([
    ['sms send 99112233 Hi', '99112233', 8],
    ['email send bat@ex.mn --subject s --text t --wait', 'bat@ex.mn', 8],
    ['verify create 99112233', '99112233', 8],
    ['sendmail -t', 'bat@ex.mn', 65],
  ])('is refused once, exit 8, with the way off it: %s', async (line, to, exit) => {
    const service = refusing();
    const here = await run(line, { ...service, stdin: mail });
    expect(here).toMatchObject({
      ...{ code: exit, stdout: '' },
      stderr: `urtuu: ${to} is on the do-not-send list: opt_out (recipient_suppressed)\n  Nothing was sent. To take it off: urtuu service suppressions remove ${to}\n`,
    });
    expect(service.requests).toHaveLength(1);
    const owned = 'Nothing was sent. Ask the owner of the service to take it off.';
    expect(await run(`${line} ${elsewhere}`, { ...service, stdin: mail })).toMatchObject(saying(exit, owned));
    const masked = await run(`${line} --mask`, { ...service, stdin: mail });
    expect(masked).toMatchObject(saying(exit, owned));
    expect(masked.stderr).not.toContain(to);
  });

  it('is told to a program by code and reason', async () => {
    const { code, stderr } = await run('sms send 99112233 Hi --json', refusing());
    expect(code).toBe(8);
    expect(JSON.parse(stderr).error).toMatchObject({
      ...{ code: 'recipient_suppressed', reason: 'opt_out', exit: 8, status: 422, retryable: false },
    });
  });

  it('leaves no send in the history, and its key may be used again', async () => {
    const line = 'sms send 99112233 Hi --idempotency-key k1';
    const service = refusing();
    expect(await run(line, service)).toMatchObject({ code: 8 });
    expect((await run('history --json')).stdout).toBe('[]\n');
  });

  it('since an email to it was queued, is not sent again: exit 9', async () => {
    const queued = emailResult();
    const error = { code: 'recipient_suppressed', message: 'listed' };
    const service = fakeService(({ method }) =>
      method === 'POST' ? { status: 202, body: queued } : { body: { ...queued, status: 'failed', error } },
    );
    const { code, stderr } = await run(`email send ${queued.to} --subject s --text t --wait`, service);
    expect(code).toBe(9);
    expect(stderr).toContain('The recipient is on the do-not-send list of the service.');
    expect(stderr).not.toContain('idempotency key');
  });
});
