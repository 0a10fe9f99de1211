import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanOutcome, SentBefore } from '../../../../src/cli/bulk/plan/build-plan.js';
import { marks, messageHash, PairSet } from '../../../../src/cli/bulk/plan/pair-set.js';
import { plan, requestsOf } from '../plans.js';

/** What other jobs have sent: a message to each of these recipients, as `to text`. */
function sent(pairsSent: ReadonlySet<string>, tail: (text: string) => string): SentBefore {
  const pairs = new PairSet();
  return {
    pairs,
    skip: true,
    async mark() {
      const ofJob = new Uint8Array(pairs.length);
      for (const each of pairsSent) {
        const [to = '', text = ''] = each.split(' ');
        const pair = pairs.find(to, messageHash(tail(text)));
        if (pair !== -1) ofJob[pair] = marks.sent;
      }
      pairs.merge('july', ofJob, null);
      pairs.skipSent();
    },
  };
}

const ofSms = (text: string) => `"text":"${text}"}`;
const ofEmail = (text: string) => `"subject":"s","text":"${text}"}`;
const bodies = async (outcome: PlanOutcome) =>
  outcome.plan === null ? null : (await requestsOf(outcome)).map(({ body }) => body).sort();

describe('a plan without those who were sent the message', () => {
  it.each(['sms', 'email'] as const)('%s: is that of a list without their rows', async (channel) => {
    const people = channel === 'sms' ? ['99112233', '88112233', '95112233'] : ['c@a.mn', 'a@a.mn', 'b@a.mn'];
    const row = fc.tuple(fc.constantFrom(...people), fc.constantFrom('x', 'y', 'z'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        fc.array(row),
        async (rows, before) => {
          const gone = new Set(before.map((each) => each.join(' ')));
          const options = {
            channel,
            text: '{text}',
            ...(channel === 'email' ? { subject: 's' } : {}),
            allowRepeats: true,
          };
          const list = (some: readonly (readonly string[])[]) =>
            ['to,text', ...some.map((each) => each.join()), ''].join('\n');
          const left = rows.filter((each) => !gone.has(each.join(' ')));
          const tail = channel === 'sms' ? ofSms : ofEmail;
          const outcome = await plan(list(rows), { ...options, sentBefore: sent(gone, tail) });
          expect(outcome.alreadySent).toBe(rows.length - left.length);
          expect(await bodies(outcome)).toEqual(
            left.length === 0 ? null : await bodies(await plan(list(left), options)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('does not warn of their missing values, nor take their rows from the job of a report', async () => {
    const list = [
      'phone,name,status,job,line,message_id,batch_id,error_code,credits',
      '99112233,NULL,rejected,july,2,,,,',
      '88112233,None,rejected,july,3,,,,',
      '95112233,nan,rejected,july,4,,,,',
      '',
    ].join('\n');
    const outcome = await plan(list, {
      text: 'Hi {name}',
      only: ['rejected'],
      sentBefore: sent(new Set(['99112233 NULL']), (name) => ofSms(`Hi ${name}`)),
    });
    expect(outcome.placeholders.map(({ column, line, rows }) => [column, line, rows.size])).toEqual([
      ['name', 3, 2],
    ]);
    expect(outcome.reportedRows.origins()).toEqual([['july', 'rejected', [3, 4]]]);
    expect(outcome.meta.recipients).toBe(2);
  });
});
