import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../../src/cli/terminal/sanitise.js';
import { fakeService, run } from '../support/run.js';

/** What a hostile text is made of, among other characters. */
const nasty = fc.constantFrom(
  '\u001b[31m',
  '\u001b]8;;http://evil\u0007',
  '\u009b1m',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u00ad',
  '\ufeff',
  '\r',
  '\n',
  '\b',
  '\u0000',
  '\u007f',
  '\u2028',
  '\ud800',
  '\u{e0041}',
  '\u3164',
  '=cmd',
  'Сайн',
  'a',
);
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(nasty, { maxLength: 6 }).map((all) => all.join('')),
);
const acting = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
/** The text without the line ends and, in TSV, the tabs that are our own. */
const content = (text: string, format: string) =>
  text.replaceAll('\r\n', '\n').replaceAll(format === 'tsv' ? '\t' : '\n', ' ');

const record = fc.record({
  id: hostile,
  status: hostile,
  channel: hostile,
  to: hostile,
  credits: fc.oneof(hostile, fc.integer()),
  error: fc.oneof(fc.constant(null), fc.record({ code: hostile, message: hostile })),
  created_at: hostile,
  sent_at: hostile,
  batch_id: hostile,
  total: fc.integer(),
  sent: fc.integer(),
  failed: fc.integer(),
  balance: fc.integer(),
});

const commands = [
  "sms send 99112233 'hi'",
  'email send a@b.mn --subject s --text t',
  'verify create 99112233',
  'verify get x',
  'messages get x',
  'messages get x y',
  'batches get x',
  'batches get x y',
];

describe('hostile text', () => {
  it.each(commands)('from the service reaches no terminal raw: %s', async (line) => {
    await fc.assert(
      fc.asyncProperty(
        record,
        fc.constantFrom('table', 'json', 'ndjson', 'csv', 'tsv'),
        async (body, format) => {
          const { fetch } = fakeService(() => ({ body }));
          const { stdout, stderr } = await run(`${line} -o ${format}`, {
            fetch,
            terminal: 100,
            env: { URTUU_API_KEY: 'k', NO_COLOR: '1' },
          });
          expect(content(stdout, format)).not.toMatch(acting);
          expect(stderr).not.toMatch(acting);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('in an error reaches no terminal raw', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, fc.boolean(), async (code, message, json) => {
        const { fetch } = fakeService(() => ({
          status: 400,
          body: { error: { code, message, invalid: [message] } },
        }));
        const { stderr } = await run(`sms send 99112233 hi -v${json ? ' --json' : ''}`, { fetch });
        expect(stderr).not.toMatch(acting);
      }),
      { numRuns: 60 },
    );
  });

  it('in an argument or a file name reaches no terminal raw', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (word) => {
        const argv = ['sms', 'send', '99112233', '--text-file', `x${word}`];
        expect((await run('', { argv })).stderr).not.toMatch(acting);
        expect((await run('', { argv: [`x${word}`] })).stderr).not.toMatch(acting);
        expect((await run('', { argv: ['balance', `--x${word}`] })).stderr).not.toMatch(acting);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps its value in JSON', async () => {
    await fc.assert(
      fc.asyncProperty(record, async (body) => {
        const { fetch } = fakeService(() => ({ body }));
        expect(JSON.parse((await run('verify get x --json', { fetch })).stdout)).toEqual(body);
      }),
      { numRuns: 60 },
    );
  });

  it('leaves ordinary text as it is', () => {
    for (const text of ['Сайн байна уу', 'Өдрийн мэнд ❤️', 'ᠮᠣᠩᠭᠣᠯ', '你好', 'e\u0301'])
      expect(visible(text)).toBe(text);
    expect(visible('a\nb\tc\u001b')).toBe('a\\nb\\tc\\u001b');
  });
});
