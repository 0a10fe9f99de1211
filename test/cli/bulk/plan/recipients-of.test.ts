import fc from 'fast-check';
import { expect, it } from 'vitest';
import { recipientsOf, visitRecipients } from '../../../../src/cli/bulk/plan/files/body-recipients.js';

/** What JSON says of it; none where it is none. */
function byJson(body: string): unknown {
  try {
    const { to } = JSON.parse(body) as { to?: unknown };
    return typeof to === 'string' ? [to] : (to ?? []);
  } catch {
    return [];
  }
}

const bodies = fc
  .record({
    to: fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[89]\d{7}$/), fc.emailAddress()), {
        maxLength: 5,
      }),
    ),
    text: fc.string({ unit: 'grapheme' }),
    subject: fc.option(fc.string(), { nil: undefined }),
  })
  .map((body) => JSON.stringify(body));

it('gives the recipients of a body as JSON does', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      expect(recipientsOf(body)).toEqual(byJson(body));
    }),
  );
});

it('visits the recipients of a body, and knows where its message begins', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const visited: string[] = [];
      const messages = new Set<string>();
      visitRecipients(body, (text, from, end, message) => {
        visited.push(text.slice(from, end));
        messages.add(body.slice(message));
      });
      expect(visited).toEqual(byJson(body));
      const { to: _, ...message } = JSON.parse(body) as { to: unknown };
      expect([...messages]).toEqual(visited.length === 0 ? [] : [JSON.stringify(message).slice(1)]);
    }),
    { numRuns: 1_000 },
  );
});

it('takes no body for one that was changed, cut off or overwritten', () => {
  const change = fc.record({
    at: fc.nat(200),
    length: fc.nat(20),
    by: fc.constantFrom('', '\0', '"', ',', ']', '}', '\\', '","', '],', '\n', 'x'),
  });
  fc.assert(
    fc.property(bodies, change, (body, { at, length, by }) => {
      const from = at % (body.length + 1);
      const changed = body.slice(0, from) + by.repeat(by === '\0' ? length : 1) + body.slice(from + length);
      expect(recipientsOf(changed)).toEqual(byJson(changed));
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  '{"to":["a"],}',
  '{"to":["a"]}',
  '{"to":["a"],"text":"x"',
  '{"to":["a",],"text":"x"}',
  '{"to":["a\0"],"text":"x"}',
  '{"to":["a"],"text":"x\0"}',
  '{"to":["a" ],"text":"x"}',
  '{"to":[],"text":"x"}',
  '{"to":"a","text":"x"}',
  '\0\0\0',
  '',
])('reads %j as JSON does', (body) => expect(recipientsOf(body)).toEqual(byJson(body)));
