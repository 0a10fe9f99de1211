import fc from 'fast-check';

/** What a hostile text is made of, among other characters. */
const nasty = fc.constantFrom(
  '\u001b[31m',
  '\u001b]8;;http://evil\u0007',
  '\u001b]0;title\u001b\\',
  '\u001b[2J\u001b[H',
  '\u001bc',
  '\u0090q\u009c',
  '\u009b1m',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u00ad',
  '\ufeff',
  '\r',
  '\n',
  '\t',
  '\b',
  '\u0000',
  '\u007f',
  '\u2028',
  '\ud800',
  '\udc00',
  '\u{e0041}',
  '\u3164',
  '\u061c',
  '=cmd',
  '{text}',
  '"',
  ',',
  ';',
  'Сайн',
  'a',
);

export const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(nasty, { maxLength: 6 }).map((all) => all.join('')),
);

/** A record that has every field of every resource, nearly all of them hostile. */
export const hostileRecord = fc.record({
  id: hostileText,
  status: hostileText,
  channel: hostileText,
  to: hostileText,
  credits: fc.oneof(hostileText, fc.integer()),
  error: fc.oneof(fc.constant(null), fc.record({ code: hostileText, message: hostileText })),
  created_at: hostileText,
  sent_at: hostileText,
  batch_id: hostileText,
  total: fc.integer(),
  sent: fc.integer(),
  failed: fc.integer(),
  balance: fc.integer(),
});

export type HostileRecord = typeof hostileRecord extends fc.Arbitrary<infer Value> ? Value : never;

/** Characters that act on a terminal, reorder its text or hide in it. */
const acting =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** How many such characters are in what was printed, other than the line ends and tabs that are our own. */
export function actingCharacters(printed: string, format = 'table'): number {
  const content = printed.replaceAll('\r\n', '\n').replaceAll(format === 'tsv' ? '\t' : '\n', ' ');
  return content.match(acting)?.length ?? 0;
}
