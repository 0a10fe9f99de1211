import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedFetch } from '../../../../src/cli/network/embedded-fetch.js';
import { createService, type Service } from '../../../../src/service/index.js';
import { fileFolder } from '../../../support/folders.js';
import { run } from '../../../support/run.js';

const fixtures = join(import.meta.dirname, '../../../fixtures/c7d7ad4');
const home = fileFolder();
const state = join(home, 'state');
let service: Service;

beforeAll(async () => {
  mkdirSync(state);
  execFileSync('tar', ['xzf', join(fixtures, 'state.tar.gz'), '-C', state]);
  service = await createService({ directory: join(state, 'urtuu/service') });
});
afterAll(async () => {
  await service.close();
});

const urtuu = (line: string) =>
  run(line, {
    home,
    cwd: home,
    fetch: embeddedFetch(service),
    env: {
      URTUU_API_KEY: readFileSync(join(fixtures, 'key.txt'), 'utf8').trim(),
      URTUU_BASE_URL: 'http://127.0.0.1:17788/v1',
      XDG_STATE_HOME: state,
    },
  });

/** How often each recipient got a message with this text. */
async function received(of: Service, text: RegExp): Promise<number[]> {
  await of.administration.idle();
  const got = new Map<string, number>();
  for await (const { to, text: body } of of.administration.outbox()) {
    if (text.test(body ?? '')) got.set(to, (got.get(to) ?? 0) + 1);
  }
  return [...got.values()];
}

const times = (count: number, each = 1) => Array(count).fill(each);

describe('a job that the release before the new keys began', () => {
  it.each<[string, string, number, RegExp, number[]]>([
    ['a batch whose answer was lost', 'sms-bbb2e3085afb0ae313ce', 0, /^News$/, times(1_060)],
    ['single sends whose answers were lost', 'names', 0, /^Hello Name/, times(24)],
    ['emails whose answers were lost', 'mails', 0, /^Hello Reader/, times(30)],
    ['a second revision whose answer was lost', 'refused', 3, /^Refused$/, times(10)],
    ['a stop without credits', 'later', 0, /^Later$/, times(10)],
    ['a repeat whose answer was lost', 'again.2', 0, /^Again$/, times(8, 2)],
    ['sends that failed, with --retry-failed', 'failures --retry-failed', 0, /^Fail/, times(6)],
  ])('goes on after %s: nobody lost, nobody twice', async (_, job, code, text, expected) => {
    const end = await urtuu(`jobs resume ${job} --json`);
    expect([end.code, end.stderr]).toEqual([code, expect.any(String)]);
    expect(await received(service, text)).toEqual(expected);
    const [name = ''] = job.split(' ');
    expect(JSON.parse((await urtuu(`jobs show ${name} --json`)).stdout)).toMatchObject({
      in_doubt: 0,
      pending: 0,
    });
    expect((await urtuu(`jobs resume ${name}`)).code).toBe(11);
  });

  it('goes on with the embedded service after a kill', async () => {
    expect(await urtuu('jobs resume sandbox --sandbox --quiet')).toMatchObject({ code: 0 });
    const sandbox = await createService({ directory: join(state, 'urtuu/sandbox') });
    expect(await received(sandbox, /^Sandbox/)).toEqual(times(200));
    await sandbox.close();
  });

  it('is found again by the same file and text, and never planned anew', async () => {
    const phones = Array.from({ length: 1_060 }, (_, index) => String(99_110_000 + index));
    writeFileSync(join(home, 'news.csv'), `phone\n${phones.join('\n')}\n`);
    expect(await urtuu('sms bulk news.csv --text News --yes')).toMatchObject({ code: 11 });
    expect(await received(service, /^News$/)).toEqual(times(1_060));
  });

  it('is repeated under keys of its own', async () => {
    const phones = Array.from({ length: 8 }, (_, index) => String(85_110_000 + index));
    writeFileSync(join(home, 'again.csv'), `phone\n${phones.join('\n')}\n`);
    expect(await urtuu('sms bulk again.csv --text Again --job again --again --yes')).toMatchObject({
      code: 0,
    });
    expect(await received(service, /^Again$/)).toEqual(times(8, 3));
  });
});

it('masks the report of a job whose plan does not say which column has the recipients', async () => {
  for (const [job, recipient] of [
    ['names', /\b\d{8}\b/],
    ['mails', /[^,*]@/],
  ] as const) {
    const plain = await urtuu(`jobs report ${job} --offline`);
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringMatching(recipient) });
    const masked = await urtuu(`jobs report ${job} --offline --mask`);
    expect(masked).toMatchObject({ code: 0, stdout: expect.not.stringMatching(recipient) });
    expect(masked.stdout.split('\n')).toHaveLength(plain.stdout.split('\n').length);
  }
});
