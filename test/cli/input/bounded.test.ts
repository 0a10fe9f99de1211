import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Files } from '../../../src/cli/files/files.js';
import { fileFolder } from '../../support/folders.js';
import { smsMessage } from '../../support/resources.js';
import { fakeService, run } from '../../support/run.js';

const cwd = fileFolder();
beforeAll(() => {
  writeFileSync(join(cwd, 'list.csv'), 'phone\n99112233\n');
});

const { id } = smsMessage();

describe('input without an end', () => {
  it.each([
    ['sms send 99112233 --text-file /dev/zero', '/dev/zero has over 1 MB'],
    ['sms bulk list.csv --text-file /dev/zero --yes', '/dev/zero has over 1 MB'],
    ['email send a@b.mn --subject s --html-file /dev/zero', '/dev/zero has over 1 MB'],
    ['verify create 99112233 --text-file /dev/zero', '/dev/zero has over 1 MB'],
    ['balance --api-key-file /dev/zero', '/dev/zero has over 1 MB'],
    ['login --api-key-file /dev/zero --base-url https://x.mn/v1', '/dev/zero has over 1 MB'],
    ['messages get --from-file /dev/zero', '/dev/zero is not a list of ids'],
    ['messages get --from-file /dev/zero --column id', '/dev/zero'],
    ['sms bulk /dev/zero --text hi --yes', '/dev/zero'],
  ])('ends %s with what is wrong', async (line, what) => {
    const service = fakeService(() => ({ body: smsMessage() }));
    const { code, stderr } = await run(line, { ...service, cwd });
    expect({ code, stderr }).toMatchObject({ code: 8, stderr: expect.stringContaining(what) });
    expect(stderr).toMatch(/\n {2}\S/);
    expect(service.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('is not read beyond what may be used', async () => {
    let read = 0;
    const stdin = {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          read += 65_536;
          yield Buffer.alloc(65_536, 0x61);
        }
      },
    };
    const files = new Files(
      () => stdin,
      () => cwd,
      { note: () => {}, sleep: async () => {} },
    );
    await expect(files.text('-')).rejects.toMatchObject({ exit: 8, message: 'standard input has over 1 MB' });
    expect(read).toBeLessThan(1_200_000);
  });

  it('is a message over 4 MB for sendmail', async () => {
    const stdin = `To: a@b.mn\nSubject: s\n\n${'x'.repeat(76)}\n`.repeat(50_000);
    const { code, stderr } = await run('sendmail -t', { ...fakeService(() => ({})), stdin });
    expect({ code, stderr }).toMatchObject({ code: 65, stderr: expect.stringContaining('over 4 MB') });
  });

  it('is a million ids', async () => {
    const stdin = 'a\n'.repeat(1_000_001);
    const { code, stderr } = await run('messages get -', { ...fakeService(() => ({})), stdin });
    expect({ code, stderr }).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('over 1,000,000 ids'),
    });
  });
});

describe('ids', () => {
  const service = () =>
    fakeService(({ path }) => ({ body: smsMessage({ id: path.split('/').at(-1) ?? '' }) }));
  it.each([
    ['with any line ends', 'a\r\nb\rc\n\n d \ne', ['a', 'b', 'c', 'd', 'e'], ''],
    ['of a column', 'x;message_id\r\n1;a\r\n2;\r\n3;c\r\n', ['a', 'c'], '--column message_id'],
    ['of a column, behind a byte order mark', '\ufeffmessage_id\na\n', ['a'], '--column message_id'],
  ])('are read %s', async (_, stdin, ids, words) => {
    const { requests, fetch } = service();
    expect(await run(`messages get --from-file - ${words}`, { fetch, stdin })).toMatchObject({ code: 0 });
    expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual(ids);
  });
  it('are refused where the column is not there, the names of very many columns cut short', async () => {
    const stdin = `${Array.from({ length: 100_000 }, (_, index) => `c${index}`).join(',')}\n${id}\n`;
    const { code, stderr } = await run('messages get - --column id', { ...service(), stdin });
    expect(code).toBe(8);
    expect(stderr).toContain('c19 and 99,980 more');
    expect(stderr.length).toBeLessThan(300);
  });
});

describe('a pipe that nobody writes to', () => {
  it.each([
    [false, 'waiting for standard input'],
    [true, 'reading from the terminal; end with Ctrl-D on a line of its own'],
  ])('is named after a second, at a terminal %s', async (isTTY, note) => {
    const notes: string[] = [];
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const stdin = {
      isTTY,
      async *[Symbol.asyncIterator]() {
        await arrived;
        yield 'text';
      },
    };
    const waits: number[] = [];
    const files = new Files(
      () => stdin,
      () => cwd,
      {
        note: (text) => {
          notes.push(text);
          arrive();
        },
        sleep: async (milliseconds) => void waits.push(milliseconds),
      },
    );
    expect(await files.text('-')).toBe('text');
    expect({ notes, waits }).toEqual({ notes: [note], waits: [1_000] });
  });
});
