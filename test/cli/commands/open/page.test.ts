import { expect, it } from 'vitest';
import { run } from '../../../support/run.js';

const env = { URTUU_BASE_URL: 'https://sms.example.mn/gateway/v1' };
const root = 'https://sms.example.mn/dashboard';

it.each([
  ['open', root],
  ['open messages', `${root}/messages`],
  ['open 5NJin2600nv7oDFrg8w2n', `${root}/messages/5NJin2600nv7oDFrg8w2n`],
  ['open 0193A1B2-0000-7000-8000-0000000000AF', `${root}/messages/0193a1b2-0000-7000-8000-0000000000af`],
])('%s prints where it is, without a key', async (line, url) => {
  expect(await run(line, { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(url),
    stderr: '',
  });
  expect(JSON.parse((await run(`${line} --json`, { env })).stdout)).toEqual({ url });
});

it('opens it on a terminal, and says so only then', async () => {
  const opened: string[] = [];
  const openInBrowser = (isThere: boolean) => async (url: string) => {
    opened.push(url);
    return isThere;
  };
  const there = await run('open', { env, terminal: 80, openInBrowser: openInBrowser(true) });
  expect(there).toMatchObject({ code: 0, stderr: expect.stringContaining('Opened in your browser') });
  const without = await run('open', { env, terminal: 80, openInBrowser: openInBrowser(false) });
  expect(without).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Opened') });
  expect(opened).toEqual([root, root]);
});

it.each(['open ../keys', 'open a/b', 'open --sandbox', 'open messages 5NJin2600nv7oDFrg8w2n'])(
  '%s is refused, and opens nothing',
  async (line) => {
    const openInBrowser = async () => Promise.reject(new Error('opened'));
    expect((await run(line, { env, terminal: 80, openInBrowser })).code).toBe(2);
  },
);
