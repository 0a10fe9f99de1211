import { describe, expect, it } from 'vitest';
import { type OutputStream, Sink } from '../../../src/cli/terminal/streams.js';
import { smsResult } from '../../support/resources.js';
import { fakeService, run } from '../../support/run.js';

/** A standard output that fails from its first byte on. */
class Broken implements OutputStream {
  readonly #code: string;
  constructor(code: string) {
    this.#code = code;
  }
  write(_: string, done?: (error?: Error | null) => void): boolean {
    done?.(Object.assign(new Error(this.#code), { code: this.#code }));
    return true;
  }
  on(): this {
    return this;
  }
}

const sent = smsResult();

describe('a closed standard output', () => {
  it('ends reads with 0, and stops reading on', async () => {
    const service = fakeService(({ path }) => ({ body: { ...sent, id: path } }));
    const ids = Array.from({ length: 40 }, (_, index) => `m${index}`).join(' ');
    const { code } = await run(`messages get ${ids} -o ndjson`, { ...service, stdout: new Broken('EPIPE') });
    expect(code).toBe(0);
    expect(service.requests.length).toBeLessThan(15);
  });

  it('does not stop a send, nor what it says', async () => {
    const service = fakeService(() => ({ body: sent }));
    const { code, stderr } = await run('sms send 99112233 hi', { ...service, stdout: new Broken('EPIPE') });
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(service.requests).toHaveLength(1);
    const failed = fakeService(() => ({ body: { ...sent, status: 'failed' } }));
    expect(await run('sms send 99112233 hi', { ...failed, stdout: new Broken('EPIPE') })).toMatchObject({
      code: 9,
    });
  });
});

describe('a full disk behind standard output', () => {
  it.each(['ENOSPC', 'EIO'])('is 13 and says so: %s', async (code) => {
    const service = fakeService(() => ({ body: sent }));
    for (const line of ['sms send 99112233 hi', '--version', '--help', 'messages get a b -o csv']) {
      const result = await run(line, { ...service, stdout: new Broken(code) });
      expect(result.code).toBe(13);
      expect(result.stderr).toContain(code);
    }
  });
});

describe('standard error', () => {
  it.each([
    ['ENOSPC', ['lost', 'later']],
    ['EPIPE', ['lost']],
  ])('after %s is written: %o', async (code, written) => {
    const texts: string[] = [];
    const stream: OutputStream = {
      write(text, done) {
        texts.push(text);
        done?.(texts.length === 1 ? Object.assign(new Error(code), { code }) : null);
        return true;
      },
      on: () => stream,
    };
    const sink = new Sink(() => stream, { isLog: true });
    for (const text of ['lost', 'later']) await sink.write(text);
    expect(texts).toEqual(written);
  });
});
