import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../../src/cli/terminal/sanitise.js';
import { fakeService, run } from '../support/run.js';
import {
  actingCharacters,
  hostileText as hostile,
  hostileRecord as record,
} from '../torture/text/hostile.js';

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
          expect(actingCharacters(stdout, format)).toBe(0);
          expect(actingCharacters(stderr)).toBe(0);
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
        expect(actingCharacters(stderr)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('in an argument or a file name reaches no terminal raw', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (word) => {
        const argv = ['sms', 'send', '99112233', '--text-file', `x${word}`];
        expect(actingCharacters((await run('', { argv })).stderr)).toBe(0);
        expect(actingCharacters((await run('', { argv: [`x${word}`] })).stderr)).toBe(0);
        expect(actingCharacters((await run('', { argv: ['balance', `--x${word}`] })).stderr)).toBe(0);
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
