import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedFetch } from '../../src/cli/network/embedded-fetch.js';
import { systemClock } from '../../src/service/clock.js';
import { createService, type Service } from '../../src/service/index.js';
import { run } from '../support/run.js';

const fixture = join(import.meta.dirname, '../fixtures/e5bfb29c');
const { at } = JSON.parse(String(gunzipSync(readFileSync(join(fixture, 'folder.json.gz'))))) as {
  at: number;
};
const home = mkdtempSync(join(tmpdir(), 'urtuu-earlier-'));
const state = join(home, 'state');
/** A minute after the release stopped. */
const shift = at + 60_000 - Date.now();
const clock = { ...systemClock, now: () => Date.now() + shift };
let service: Service;

beforeAll(async () => {
  execFileSync('tar', ['xzf', join(fixture, 'state.tar.gz'), '-C', home]);
  service = await createService({ directory: join(state, 'urtuu/service'), clock });
  await service.administration.setLaneStatus('email', 'open');
});
afterAll(async () => {
  await service.close();
  rmSync(home, { recursive: true, force: true });
});

let now = at + 60_000;
const urtuu = (line: string) =>
  run(line, {
    home,
    cwd: home,
    fetch: embeddedFetch(service),
    env: { XDG_STATE_HOME: state, XDG_CONFIG_HOME: join(home, 'config') },
    clock: {
      now: () => now,
      async sleep(milliseconds) {
        now += milliseconds;
        await setImmediate();
      },
    },
  });

/** How often each recipient got a message with this text. */
async function received(text: RegExp, of = service): Promise<number[]> {
  await of.administration.idle();
  const got = new Map<string, number>();
  for await (const { to, text: body } of of.administration.outbox())
    if (text.test(body ?? '')) got.set(to, (got.get(to) ?? 0) + 1);
  return [...got.values()].sort();
}

const times = (count: number, each = 1) => Array(count).fill(each);

const lines = (text: string) => text.trim().split(/\r?\n/);

it('history, jobs and profiles of the release at e5bfb29c are listed as they stood', async () => {
  expect(lines((await urtuu('profiles list -o csv --columns name,current,key')).stdout).slice(1)).toEqual([
    ...['main,true,stored', 'poor,false,stored', 'command,false,command'],
  ]);
  const finished = ['unknown', 'done', 'single-failures', 'failures', 'winter', 'offer'];
  const unfinished = ['sandbox', 'poor', 'refused', 'done.2', 'cancelled', 'retried', 'offer-rest', 'mails'];
  const jobs = [
    ...finished.map((job) => `${job},finished`),
    ...[...unfinished, 'names', 'news'].map((job) => `${job},unfinished`),
  ];
  expect(
    lines((await urtuu('jobs list -o csv --columns job,state')).stdout)
      .slice(1)
      .sort(),
  ).toEqual([...jobs, 'winter-rest,new'].sort());
  const history = lines((await urtuu('history -o ndjson')).stdout).map((line) => JSON.parse(line));
  expect(history.map(({ job, to, status }) => `${job ?? to},${status}`).sort()).toEqual(
    [
      ...jobs,
      ...['99440001,sent', 'once@example.mn,queued', '91440002,failed', '99440003,in_doubt'],
      ...['99440004,sent', '99440005,pending', '99440006,sent'],
    ].sort(),
  );
});

describe('a job of the release at e5bfb29c', () => {
  it.each<[string, string, number, RegExp, number[]]>([
    ['a batch in doubt, others not sent', 'news', 0, /^News/, times(24)],
    ['single sends in doubt', 'names', 0, /^Hello N/, times(8)],
    ['emails in doubt', 'mails', 0, /^Hello \d/, times(15)],
    ['rows of another job, in doubt', 'offer-rest', 0, /^Offer/, times(3)],
    ['rows of another job that it had not taken yet', 'winter-rest', 0, /^Winter/, times(3)],
    ['failures, some retried', 'retried --retry-failed', 9, /sale\/r/, times(2)],
    ['failures, none retried', 'single-failures --retry-failed', 9, /sale\/\d/, times(2)],
    ['a cancel mark', 'cancelled', 0, /^Cancelled/, times(20)],
    ['a repeat in doubt', 'done.2', 0, /^Done/, times(4, 2)],
    ['refused rows, and a revision in doubt', 'refused', 3, /^Refused/, times(6)],
  ])('with %s goes on: nobody lost, nobody twice', async (_, words, code, text, expected) => {
    const end = await urtuu(`jobs resume ${words} --json`);
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code, stderr: expect.any(String) });
    expect(await received(text)).toEqual(expected);
    // It has no texts to take over.
    expect(end.stderr).not.toContain('--like');
    const [name = ''] = words.split(' ');
    expect(JSON.parse((await urtuu(`jobs show ${name} --json`)).stdout)).toMatchObject({
      in_doubt: 0,
      pending: 0,
    });
    expect(await urtuu(`jobs resume ${name}`)).toMatchObject({ code: 11 });
  });

  it.each(['offer', 'winter'])('has the rows as moved that another job took: %s', async (job) => {
    expect(JSON.parse((await urtuu(`jobs show ${job} --json`)).stdout)).toMatchObject({
      ...{ planned: 6, sent: 3, failed: 0, moved: 3 },
      moved_to: [`${job}-rest`],
    });
  });

  it('goes on after credits were added', async () => {
    const poor = (await service.administration.listProjects()).find(({ name }) => name === 'Poor');
    const project = await service.administration.project(poor?.id ?? '');
    await project?.credit(100);
    expect(await urtuu('jobs resume poor --profile poor')).toMatchObject({ code: 0 });
    expect(await received(/^Poor/)).toEqual(times(5));
  });

  it('goes on with the embedded service after a kill', async () => {
    expect(await urtuu('jobs resume sandbox --sandbox')).toMatchObject({ code: 0 });
    const sandbox = await createService({ directory: join(state, 'urtuu/sandbox'), clock });
    expect(await received(/^Sandbox/, sandbox)).toEqual(times(12));
    await sandbox.close();
  });

  it('keeps no texts for --like, exit 8', async () => {
    const { code, stderr } = await urtuu('sms bulk done.csv --like done --yes');
    expect(code).toBe(8);
    expect(stderr).toMatch(
      /the job done was planned by an earlier version.*\n.*give the texts and options again/s,
    );
  });

  it.each<[string, string, string, RegExp, number[]]>([
    ['failed', 'failures', '--only failed', /^Report of failed/, times(3)],
    ['unknown', 'unknown', '--only unknown --accept-duplicates', /^Report of unknown/, times(1)],
  ])('has %s rows that its report sends again, once', async (status, job, words, text, expected) => {
    expect(await urtuu(`jobs report ${job} --offline --report ${job}.csv`)).toMatchObject({ code: 0 });
    const again = await urtuu(`sms bulk ${job}.csv ${words} --text 'Report of ${status}' --yes`);
    expect(again).toMatchObject({ code: 0 });
    expect(await received(text)).toEqual(expected);
    const refused = await urtuu(
      `sms bulk ${job}.csv ${words} --text 'Report of ${status}' --job other --yes`,
    );
    expect(refused).toMatchObject({ code: 11 });
  });
});

it.each<[string, number]>([
  ['sms send 99440001 Once --idempotency-key once', 0],
  ['email send once@example.mn --subject Once --text Once --idempotency-key once-mail', 0],
  ['sms send 91440002 https://example.mn/sale --idempotency-key once-failed', 9],
  ['sms send 99440003 Once --idempotency-key once-lost', 0],
])('a key that the release at e5bfb29c used sends nothing more: %s', async (line, code) => {
  expect(await urtuu(line)).toMatchObject({ code });
  // Three with a key, and one without.
  expect(await received(/^Once$/)).toEqual(times(4));
});

it('a profile of the release at e5bfb29c sends', async () => {
  expect(await urtuu("sms send 99450001 'A new send'")).toMatchObject({ code: 0 });
  expect(await urtuu("sms send 99450002 'A new send' --profile command")).toMatchObject({ code: 0 });
  expect(await received(/^A new send$/)).toEqual(times(2));
});
