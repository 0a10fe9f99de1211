import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requestKeys } from '../../../../../src/cli/bulk/job/keys.js';
import { readPlanMeta } from '../../../../../src/cli/bulk/plan/files/plan-reader.js';
import { smsResult } from '../../../../support/resources.js';
import { testKey } from '../../../../support/run.js';
import { desk } from '../desks.js';

const fixture = join(import.meta.dirname, '../../../../fixtures/e5bfb29c/texts.tar.gz');

/** A machine with jobs of the release at e5bfb29c, whose bytes are others now: see the fixture's make/texts.mjs. */
function upgraded() {
  const here = desk([]);
  execFileSync('tar', ['xzf', fixture, '-C', here.home]);
  const env = {
    URTUU_API_KEY: testKey,
    URTUU_BASE_URL: 'http://127.0.0.1:17789/v1',
    XDG_STATE_HOME: join(here.home, 'state'),
  };
  const run = (line: string, now = Date.parse('2026-11-21T00:00:00.000Z')) =>
    here.run(line, { env, clock: { now: () => now } });
  const texts = () => here.project.sends.map(({ body }) => body?.text);
  return { here, run, texts, state: env.XDG_STATE_HOME };
}

const bulk = (text: string) => `sms bulk list.csv --text-file ${text}.txt --yes`;
const later = Date.parse('2027-11-21T00:00:00.000Z');
const error = (stderr: string) => JSON.parse(stderr).error;

describe('a list whose texts and values are read otherwise since the release that sent it', () => {
  it.each(['', ' --skip-sent', ' --job other --skip-sent'])(
    'is the same job, exit 11: %s',
    async (options) => {
      const { here, run } = upgraded();
      const { code, stderr } = await run(`${bulk('done')}${options} --json`);
      expect({ code, error: error(stderr).code }).toEqual({ code: 11, error: 'job_done' });
      expect(here.project.sends).toEqual([]);
    },
  );

  it('is the same job however old it is, and with --if-finished ok', async () => {
    const { here, run } = upgraded();
    expect(error((await run(`${bulk('done')} --json`, later)).stderr)).toMatchObject({ code: 'job_done' });
    expect(await run(`${bulk('done')} --if-finished ok`, later)).toMatchObject({ code: 0 });
    // Under another name it is the same list, too.
    expect(await run(`${bulk('done')} --delimiter comma`, later)).toMatchObject({ code: 11 });
    expect(here.project.sends).toEqual([]);
  });

  it.each(['stopped', 'july --job july'])('goes on with its own bytes and keys: %s', async (words) => {
    const { here, run, texts, state } = upgraded();
    const [text = '', ...options] = words.split(' ');
    expect(await run([bulk(text), ...options].join(' '))).toMatchObject({ code: 0 });
    expect(texts()).toEqual([`Сайн уу ${text}\r\nСаруул\u0438\u0306`, `Сайн уу ${text}\r\nСүх`]);
    const name = await jobOf(
      state,
      here.project.sends.map(({ headers }) => headers['Idempotency-Key'] ?? ''),
    );
    expect(name).toMatch(text === 'july' ? /^july$/ : /^sms-/);
    expect(await run([bulk(text), ...options].join(' '))).toMatchObject({ code: 11 });
  });

  it('is another one with another value or text', async () => {
    const { here, run, texts } = upgraded();
    here.write('list.csv', ['phone,name', '99112233,Бат ', '88112233,Сүхээ ']);
    const { code, stderr } = await run(`${bulk('done')} --json`);
    expect([code, error(stderr).code]).toEqual([11, 'sent_before']);
    expect(await run(`${bulk('done')} --skip-sent`)).toMatchObject({ code: 0 });
    expect(texts()).toEqual(['Сайн уу done\nСүхээ']);
  });

  it('is sent to everyone once more by --again, as it is read now', async () => {
    const { here, run, texts } = upgraded();
    expect(await run(`${bulk('done')} --again`)).toMatchObject({ code: 0 });
    expect(texts()).toEqual(['Бат', 'Дорж', 'Саруул\u0439', 'Сүх'].map((name) => `Сайн уу done\n${name}`));
    expect(await run(bulk('done'))).toMatchObject({ code: 11 });
    expect(here.project.sends).toHaveLength(4);
  });

  it('is the same message in a single send with its idempotency key', async () => {
    const { here, run } = upgraded();
    const id = '01a1f0f0-0000-7000-8000-000000000000';
    here.project.options.instead = ({ method }) =>
      method === 'POST'
        ? { body: smsResult({ id, to: '99112233' }), headers: { 'Idempotency-Replayed': 'true' } }
        : undefined;
    const send = (words: string) => run(`sms send 99112233 --idempotency-key once-text ${words} --json`);
    const { code, stdout } = await send('--text-file once.txt');
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, id, replayed: true });
    const other = await send('--text other');
    expect([other.code, error(other.stderr).code]).toEqual([11, 'key_used']);
  });
});

/** The job whose keys these are. */
async function jobOf(state: string, keys: readonly string[]): Promise<string | undefined> {
  const jobs = join(state, 'urtuu/jobs');
  for (const id of readdirSync(jobs)) {
    const keyOf = requestKeys(id, await readPlanMeta(join(jobs, id)));
    if (keys.join() === [keyOf(2, 0), keyOf(3, 0)].join()) return id;
  }
  return undefined;
}
