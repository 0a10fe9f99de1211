import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Questions } from '../../src/cli/terminal/prompts.js';
import { visible } from '../../src/cli/terminal/sanitise.js';
import { createService, type Service } from '../../src/service/index.js';
import { emptyFolder } from '../support/folders.js';
import { batchResult, pricing, smsResult } from '../support/resources.js';
import { type FakeService, fakeService, run, type Setting } from '../support/run.js';
import {
  actingCharacters,
  hostileText as hostile,
  hostileRecord as record,
} from '../torture/text/hostile.js';

const commands = [
  "sms send 99112233 'hi'",
  'email send a@b.mn --subject s --text t',
  'verify create 99112233',
  'email send a@b.mn --subject s --text t --wait --wait-timeout 0',
  'verify get x',
  'verify check x 123456',
  'balance --min 5',
  'messages get x',
  'messages get x y',
  'batches get x',
  'batches get x y',
];

/** The same with what the client has to find in an answer; the rest stays hostile. */
const proving = (body: object, line: string) => ({
  ...body,
  id: line.includes('get') ? `i${(body as { id: string }).id}` : 'x',
  status: line.startsWith('verify check') ? 'verified' : 'sent',
  credits: 10,
  total: 3,
  ...(/(?:sms|email) send/.test(line) ? { channel: line.split(' ')[0], to: line.split(' ')[2] } : {}),
});

describe('hostile text', () => {
  it.each(commands)('from the service reaches no terminal raw: %s', async (line) => {
    await fc.assert(
      fc.asyncProperty(
        record,
        fc.boolean(),
        fc.constantFrom('table', 'json', 'ndjson', 'csv', 'tsv'),
        async (odd, proves, format) => {
          const body = proves ? proving(odd, line) : odd;
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
      { numRuns: 15 },
    );
  });

  it('from the service in lists, prices, headers and the doctor reaches no terminal raw', async () => {
    const price = fc.oneof(hostile, fc.integer());
    const prices = fc.record({
      sms: fc.record({
        credits_per_part: fc.oneof({ weight: 4, arbitrary: fc.integer() }, price),
        rate_multiplier: fc.double({ noNaN: true, noDefaultInfinity: true }),
        latin_characters_per_part: price,
        cyrillic_characters_per_part: price,
        max_parts: price,
      }),
      email: fc.record({ credits_per_message: fc.integer() }),
      balance: fc.oneof({ weight: 4, arbitrary: fc.integer() }, price),
    });
    const header = hostile.filter((text) => !/[^\x20-\x7e]/.test(text));
    const lines = [
      'pricing',
      'doctor',
      'doctor --json',
      'batches get b --messages',
      'sms send 99112233 hi --dry-run',
    ];
    await fc.assert(
      fc.asyncProperty(prices, record, header, fc.constantFrom(...lines), async (money, any, odd, line) => {
        const row = proving(any, 'get');
        const { fetch } = fakeService(({ path }) => ({
          body: path.includes('/messages') ? { data: [row], next: null } : { ...row, ...money },
          headers: { Date: odd, 'X-RateLimit-Limit': odd, 'X-RateLimit-Remaining': odd, 'X-Request-Id': odd },
        }));
        const { stdout, stderr } = await run(`${line} -v`, {
          fetch,
          terminal: 80,
          env: { URTUU_API_KEY: 'k', NO_COLOR: '1' },
        });
        expect(actingCharacters(stdout)).toBe(0);
        expect(actingCharacters(stderr)).toBe(0);
      }),
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
      { numRuns: 25 },
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
      { numRuns: 25 },
    );
  });

  it('keeps its value in JSON', async () => {
    await fc.assert(
      fc.asyncProperty(record, async (odd) => {
        const body = { ...odd, id: `i${odd.id}`, status: `s${odd.status}`, credits: 10 };
        const { fetch } = fakeService(() => ({ body }));
        expect(JSON.parse((await run('verify get x --json', { fetch })).stdout)).toEqual(body);
      }),
      { numRuns: 25 },
    );
  });

  it('leaves ordinary text as it is', () => {
    for (const text of ['Сайн байна уу', 'Өдрийн мэнд ❤️', 'ᠮᠣᠩᠭᠣᠯ', '你好', 'e\u0301'])
      expect(visible(text)).toBe(text);
    expect(visible('a\nb\tc\u001b')).toBe('a\\nb\\tc\\u001b');
  });
});

/** A name that a file can have. */
const fileName = hostile.map((text) => `x${text.replaceAll('\0', '').replaceAll('/', '').slice(0, 40)}.csv`);
const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe('hostile text in files', () => {
  const home = emptyFolder();

  /** At a terminal, without our own colours. */
  const safe = async (argv: string[], setting: Setting) => {
    const { code, stdout, stderr } = await run('', { argv, home, cwd: home, terminal: 80, ...setting });
    expect({ argv, acting: actingCharacters(stdout) }).toEqual({ argv, acting: 0 });
    expect({ argv, acting: actingCharacters(stderr) }).toEqual({ argv, acting: 0 });
    return { code, stdout, stderr };
  };
  const env = { URTUU_API_KEY: 'k', NO_COLOR: '1' };

  const accepting = (odd: string): FakeService =>
    fakeService(({ method, path, body }) => {
      if (method === 'GET' && path === '/balance') return { body: { balance: 1_000 } };
      if (method === 'GET' && path === '/pricing') return { body: pricing };
      if (path.startsWith('/batches') || path.startsWith('/messages')) {
        return { status: 404, body: { error: { code: 'not_found', message: odd } } };
      }
      const to = body?.to;
      if (odd.length % 3 === 0) return { status: 422, body: { error: { code: odd || 'x', message: odd } } };
      const total = Array.isArray(to) ? to.length : 1;
      return {
        body: {
          ...batchResult({ total }),
          ...smsResult({ id: odd || 'm' }),
          to,
        },
      };
    });

  it('reaches no terminal raw from a bulk send, its job and its report', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fileName,
        fc.array(hostile, { minLength: 2, maxLength: 2 }),
        fc.array(fc.tuple(fc.constantFrom('99112233', '88001122', '95112233', 'nobody'), hostile), {
          maxLength: 4,
        }),
        hostile,
        async (name, [column = '', text = ''], rows, odd) => {
          const lines = [['phone', column], ...rows].map((row) => row.map(cell).join(','));
          try {
            writeFileSync(join(home, name), `${lines.join('\r\n')}\r\n`);
          } catch {
            // No such name can be given a file here; then the error has to be safe.
          }
          const job = `j${run++}`;
          const { fetch } = accepting(odd);
          const bulk = [
            'sms',
            'bulk',
            name,
            '--job',
            job,
            '--yes',
            '--skip-invalid',
            '--allow-repeats',
            '--max-wait',
            '1s',
          ];
          await safe([...bulk, '--text', `${text}{2}`, '--headerless'], { fetch, env });
          await safe([...bulk, '--text', text || 'x'], { fetch, env });
          await safe([...bulk, '--text', 'x', '--dry-run'], { fetch, env });
          await safe([...bulk, '--text', `{${column}}`, '--to-column', column], { fetch, env });
          await safe([...bulk, '--text', 'x', '--delimiter', text, '--encoding', column], { fetch, env });
          const reports = ['', ' --columns', ' -o table', ' --json'].map((each) => `report ${job}${each}`);
          for (const line of ['list', `show ${job}`, ...reports, `resume ${job}`]) {
            await safe(['jobs', ...line.split(' ')], { fetch, env });
          }
          await safe(['jobs', 'show', column], { fetch, env });
          await safe(['jobs', 'remove', job, '--force'], { fetch, env });
        },
      ),
      { numRuns: 10 },
    );
  });

  it('reaches no terminal raw from a question', async () => {
    const asked: string[] = [];
    const ask = async (message: string) => {
      asked.push(message);
      return 'koi8-r' as never;
    };
    const choose: Questions['choose'] = (message, choices) =>
      ask(message + choices.map(({ name }) => name).join(''));
    const questions: Questions = {
      text: ask,
      secret: ask,
      confirm: async (message) => (await ask(message)) === 'yes',
      choose,
    };
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const name = `${text.replaceAll('/', '').replaceAll('\0', '').slice(0, 40)}.csv`;
        try {
          writeFileSync(join(home, name), Buffer.from('phone\n\xff\xcf\n', 'latin1'));
        } catch {
          return; // Not every text can be the name of a file.
        }
        const { fetch } = accepting('m');
        const setting = { home, cwd: home, terminal: 80, questions, env, fetch };
        await run('', { ...setting, argv: ['sms', 'bulk', name, '--text', 'x'] });
        const key = { id: 'k', prefix: null, label: text, revoked_at: null };
        const administration = { listKeys: async () => [key], revokeKey: async () => true };
        const openService = async () => ({ administration, close: async () => {} }) as unknown as Service;
        const sandbox = { URTUU_SANDBOX: '1', NO_COLOR: '1' };
        await run('', { ...setting, env: sandbox, openService, argv: ['keys', 'revoke', 'k'] });
      }),
      { numRuns: 15 },
    );
    expect(asked.length).toBeGreaterThan(20);
    for (const each of asked) expect(actingCharacters(each)).toBe(0);
  });

  it('reaches no terminal raw from a list of ids, a profile or a key', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (first, second) => {
        const { fetch } = fakeService(() => ({
          status: 404,
          body: { error: { code: 'not_found', message: first } },
        }));
        const stdin = `${cell(first)},${cell(second)}\n${cell(second)},x\n`;
        await safe(['messages', 'get', '--from-file', '-', '--column', second], { fetch, env, stdin });
        await safe(['messages', 'get', first, second], { fetch, env });
        await safe(['batches', 'get', '-'], { fetch, env, stdin });
        await safe(['balance', '--columns', first], { fetch, env });
        await safe(['balance', '--min', first], { fetch, env });
        await safe(['balance', '-o', first], { fetch, env });
        await safe(['balance', '--profile', first], { fetch, env });
        await safe(['balance', '--base-url', first], { fetch, env });
        await safe(['balance', '--api-key-file', '-'], { fetch, env: { NO_COLOR: '1' }, stdin });
        await safe(['help', first, second], { fetch, env });
        await safe(['completion', first], { fetch, env });
        await safe(['sendmail', '-t'], { fetch, env, stdin: `To: ${first}\nSubject: ${second}\n\n${first}` });
        await safe(['sms', 'send', first, second, '--dry-run'], { fetch, env });
        await safe(['login', '--key-command', `printf '%s' ${JSON.stringify(first)}; false`], { fetch, env });
        const folder = join(home, '.config', 'urtuu');
        mkdirSync(folder, { recursive: true });
        const profiles = { a: { base_url: first, key_command: second }, b: { api_key: first } };
        writeFileSync(join(folder, 'config.json'), JSON.stringify({ current: 'a', profiles }), {
          mode: 0o600,
        });
        for (const line of [
          'profiles list',
          'profiles show a',
          'profiles show b',
          'doctor',
          'doctor --profile b',
        ]) {
          await safe(line.split(' '), { fetch, env: { NO_COLOR: '1' } });
        }
        rmSync(folder, { recursive: true });
      }),
      { numRuns: 10 },
    );
  });

  it('reaches no terminal raw from the outbox of the sandbox', async () => {
    const service = await createService({ directory: join(home, 'service') });
    const shared = { ...service, close: async () => {} } as Service;
    const openService = async () => shared;
    try {
      await fc.assert(
        fc.asyncProperty(hostile, hostile, async (subject, text) => {
          const setting = { env: { URTUU_SANDBOX: '1', NO_COLOR: '1' }, openService };
          const to = `a${Math.floor(performance.now() * 1_000)}@example.mn`;
          await safe(
            ['email', 'send', to, '--subject', subject, '--text', text, '--from-name', text],
            setting,
          );
          await safe(['sandbox', 'outbox', '--to', to], setting);
          await safe(['sandbox', 'outbox', '--limit', '2', '--json'], setting);
          await safe(['keys', 'revoke', text, '--yes'], setting);
        }),
        { numRuns: 10 },
      );
    } finally {
      await service.close();
    }
  });
});
