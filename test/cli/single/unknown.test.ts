import { describe, expect, it } from 'vitest';
import { emailResult, smsMessage, smsResult } from '../../support/resources.js';
import { fakeService, type Reply, refusal, run } from '../../support/run.js';

const line = 'sms send 99112233 hi';
const body = smsResult();
/** Reads answer with these in turn, the last one for ever. */
const service = (posts: Reply[], ...reads: Reply[]) => {
  const next = { POST: 0, GET: 0 };
  return fakeService(({ method }) => {
    const replies = method === 'POST' ? posts : reads;
    const at = next[method as keyof typeof next]++;
    return replies[Math.min(at, replies.length - 1)] as Reply;
  });
};
const read = (delivery: 'unknown' | 'delivered' | null) => ({ body: { ...smsMessage(), delivery } });
const sent = { body };
const replayed = { body, headers: { 'Idempotency-Replayed': 'true' } };

describe('a single message of which nobody knows whether it arrived', () => {
  it.each([
    ['an SMS, which its answer calls sent', line, [sent], [read('unknown')]],
    [
      'an email',
      'email send bat@example.mn --subject s --text t',
      [{ status: 202, body: emailResult() }],
      [
        { body: { ...emailResult(), status: 'queued' } },
        { body: { ...emailResult(), status: 'sent', delivery: 'unknown' } },
      ],
    ],
  ])('is exit 3 with --wait, and shown: %s', async (_, command, posts, reads) => {
    const { code, stdout, stderr } = await run(`${command} --wait --json`, service(posts, ...reads));
    expect([code, JSON.parse(stdout)]).toEqual([3, expect.objectContaining({ delivery: 'unknown' })]);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'unknown',
      exit: 3,
      message: 'the message is sent, and may not have arrived',
      retryable: false,
    });
    expect((await run(`${command} --wait`, service(posts, ...reads))).stdout).toMatch(/^delivery +unknown$/m);
  });

  it.each([
    ['a 503', [refusal(503, 'unavailable'), sent]],
    ['a replay', [replayed]],
  ])('is read, and said, after %s without --wait too', async (_, posts) => {
    const said = 'warning: the operator never answered: the message may not have arrived';
    const asked = service(posts, read('unknown'));
    const { code, stdout, stderr } = await run(`${line} --idempotency-key k`, asked);
    expect([code, stderr]).toEqual([0, expect.stringContaining(said)]);
    expect(stdout).toMatch(/^delivery +unknown$/m);
    // The send itself is known.
    const blind = await run(`${line} --idempotency-key k`, service(posts, refusal(403, 'forbidden')));
    expect([blind.code, blind.stderr.includes(said)]).toEqual([0, false]);
  });

  it('is not asked for where the first answer came at once, without --wait', async () => {
    const asked = service([sent], read('unknown'));
    expect(await run(line, asked)).toMatchObject({ code: 0 });
    expect(asked.requests).toHaveLength(1);
  });

  it('is 0 where a receipt came, and where the service never says it', async () => {
    for (const reads of [[read('delivered')], [read(null)], [{ body: smsMessage() }]]) {
      expect(await run(`${line} --wait`, service([sent], ...reads))).toMatchObject({ code: 0 });
    }
  });
});

describe('a look-up that fails after a single message was accepted', () => {
  it.each([
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
  ])('is exit 14, with the reason and no way to send it twice: %i %s', async (status, reason) => {
    for (const post of [sent, { status: 202, body: emailResult() }]) {
      const command = post === sent ? line : 'email send bat@example.mn --subject s --text t';
      const { code, stdout, stderr } = await run(
        `${command} --wait --json`,
        service([post], refusal(status, reason)),
      );
      expect([code, JSON.parse(stdout)]).toEqual([14, expect.objectContaining({ id: post.body.id })]);
      expect(JSON.parse(stderr).error).toMatchObject({
        code: reason,
        exit: 14,
        id: post.body.id,
        retryable: false,
        hint: expect.stringContaining(
          `do not send it again. Look again with: urtuu messages get ${post.body.id} --wait`,
        ),
      });
    }
  });

  it('is exit 14 where time is over, and the hint reads and does not send', async () => {
    const { code, stderr } = await run(
      `${line} --wait --wait-timeout 2s`,
      service([sent], refusal(503, 'unavailable')),
    );
    expect([code, stderr]).toEqual([
      14,
      `urtuu: the message was accepted as ${body.id}, and its outcome could not be read in time\n` +
        `  It is not in doubt: do not send it again. Look again with: urtuu messages get ${body.id} --wait\n`,
    ]);
  });
});
