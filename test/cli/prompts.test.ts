import { describe, expect, it } from 'vitest';
import { emailResult, smsResult, verification } from '../support/resources.js';
import { answers, fakeService, type Reply, refusal, run } from '../support/run.js';

const wrong = (left: number) => refusal(422, 'invalid_code', { attempts_remaining: left });
const checking = (...replies: Reply[]) =>
  fakeService((_, index) => replies[index] ?? refusal(500, 'unavailable'));

describe('a prompt', () => {
  it.each([
    ['sms send', '9911', '"9911" is not a phone number'],
    ['email send', 'bat@', '"bat@" is not an email address'],
    ['verify create', 'bat', '"bat" is neither a phone number nor an email address'],
  ])('of `%s` refuses %s before the next one', async (line, typed, refused) => {
    const service = fakeService(() => ({ body: smsResult() }));
    const questions = answers(typed);
    const { stderr } = await run(line, { ...service, questions, terminal: 200 });
    expect(stderr).toContain(refused);
    expect(questions.asked).toHaveLength(1);
    expect(service.requests).toEqual([]);
  });

  it.each([
    ['sms send', ['+976 9911-2233', 'hi'], smsResult()],
    ['sms send', ['70112233', 'hi'], smsResult({ to: '70112233' })],
    ['email send', ['bat@example.mn', 's', 't'], emailResult()],
  ])('of `%s` takes %j', async (line, typed, body) => {
    const service = fakeService(() => ({ body }));
    const { code } = await run(line, { ...service, questions: answers(...typed), terminal: 200 });
    expect({ code, sent: service.requests.length }).toEqual({ code: 0, sent: 1 });
  });

  it('is not shown where an argument is wrong already', async () => {
    const questions = answers();
    const { code, stderr } = await run('sms send 9911', { questions, terminal: 200 });
    expect({ code, asked: questions.asked }).toEqual({ code: 8, asked: [] });
    expect(stderr).toContain('"9911" is not a phone number');
  });
});

describe('verify check on a terminal', () => {
  const ask = (service: ReturnType<typeof fakeService>, ...typed: string[]) => {
    const questions = answers(...typed);
    return run('verify check v', { ...service, questions, terminal: 200 }).then((result) => ({
      ...result,
      asked: questions.asked,
      codes: service.requests.map(({ body }) => body?.code),
    }));
  };

  it('asks again after a wrong code, and takes a code in groups', async () => {
    const service = checking(wrong(4), wrong(3), { body: verification({ id: 'v', status: 'verified' }) });
    expect(await ask(service, '111111', '222222', ' 333 333 ')).toMatchObject({
      code: 0,
      asked: [
        'Code:',
        'Wrong code. Attempts remaining: 4. Code:',
        'Wrong code. Attempts remaining: 3. Code:',
      ],
      codes: ['111111', '222222', '333333'],
    });
  });

  it('ends when no try is left', async () => {
    const result = await ask(checking(wrong(1), wrong(0)), '111111', '222222');
    expect(result).toMatchObject({ code: 10, asked: { length: 2 } });
    expect(result.stderr).toContain('Attempts remaining: 0. Create a new verification.');
  });

  it('ends at any other error, without another prompt', async () => {
    const closed = refusal(409, 'verification_closed');
    expect(await ask(checking(wrong(2), closed), '111111', '222222')).toMatchObject({ code: 10 });
  });

  it('does not ask again for a code that was an argument', async () => {
    const service = checking(wrong(4));
    const questions = answers();
    const setting = { ...service, questions, terminal: 200 };
    expect(await run('verify check v 111111', setting)).toMatchObject({ code: 10 });
  });

  it.each(['12a456', '123', '123456789', 'code'])('refuses %s before it costs a try', async (typed) => {
    const service = checking();
    const { code, stderr } = await run(`verify check v ${typed}`, service);
    expect({ code, requests: service.requests }).toEqual({ code: 8, requests: [] });
    expect(stderr).toContain('not a code: a code has 4 to 8 digits');
  });
});
