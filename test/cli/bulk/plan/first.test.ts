import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plan, requestsOf } from '../plans.js';

type Rows = readonly (readonly string[])[];
const list = (rows: Rows) => ['to,text', ...rows.map((each) => each.join()), ''].join('\n');

describe('a plan of the first recipients', () => {
  it.each(['sms', 'email'] as const)('%s: is that of a list that ends after them', async (channel) => {
    const people = channel === 'sms' ? ['99112233', '88112233', '95112233'] : ['c@a.mn', 'A@a.mn', 'a@a.mn'];
    const row = fc.tuple(fc.constantFrom(...people), fc.constantFrom('x', 'y'));
    const options = {
      channel,
      text: '{text}',
      ...(channel === 'email' ? { subject: 's' } : {}),
      allowRepeats: true,
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1 }),
        fc.integer({ min: 1, max: 7 }),
        async (rows, first) => {
          const different = [...new Set(rows.map((each) => each.join().toLowerCase()))];
          const isTaken = (each: readonly string[]) =>
            different.indexOf(each.join().toLowerCase()) < Math.min(first, different.length);
          const taken = rows.filter(isTaken);
          const made = await plan(list(rows), { ...options, first });
          const alone = await plan(list(taken), options);
          expect((await requestsOf(made)).map(({ body }) => body)).toEqual(
            (await requestsOf(alone)).map(({ body }) => body),
          );
          expect(made.meta).toMatchObject({ merged: alone.meta.merged, cost: alone.meta.cost });
          expect(made.later).toBe(Math.max(0, different.length - first));
          const lines: number[] = [];
          for await (const { line, place } of made.plan?.rows() ?? []) if (place !== null) lines.push(line);
          expect(lines).toEqual(rows.flatMap((each, index) => (isTaken(each) ? [index + 2] : [])));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('checks all rows', async () => {
    const rows = [
      ['99112233', 'x'],
      ['88112233', 'x'],
      ['99112233', 'y'],
      ['nobody', 'x'],
    ];
    const { plan: made, meta } = await plan(list(rows), { text: '{text}', first: 1 });
    expect({ made, rejected: meta.rejected }).toEqual({ made: null, rejected: 2 });
    const skipping = await plan(list(rows), { text: '{text}', first: 1, skipInvalid: true });
    expect(skipping.meta).toMatchObject({ recipients: 1, rejected: 2, rest: { recipients: 1 } });
  });
});
