import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Exit } from '../../src/cli/exit.js';
import type { Desk } from '../support/desk.js';
import { type Printed, printedIn } from '../support/printed-commands.js';
import { type Result, refusal, testKey } from '../support/run.js';
import { numbers } from './bulk/memory-plan.js';
import { desk, partly, partlySent, people, personal } from './commands/bulk/desks.js';

const baseUrl = 'http://127.0.0.1:7799/v1';
const profiles = {
  work: { base_url: baseUrl, api_key: testKey },
  home: { base_url: 'http://127.0.0.1:9/v1', api_key: `urtuu_${'B'.repeat(40)}` },
};

/** What leads a command to its service and key, and is not in the environment of the next one. */
interface Way {
  name: string;
  /** `HOME` in a variable is the home of the machine. */
  setting: { env: Record<string, string> };
  options?: string;
  current?: string;
}

const ways: Way[] = [
  { name: 'profiles use', setting: { env: {} }, current: 'work' },
  { name: 'URTUU_PROFILE', setting: { env: { URTUU_PROFILE: 'work' } } },
  { name: '--profile', setting: { env: {} }, options: ' --profile work' },
  { name: 'URTUU_BASE_URL', setting: { env: { URTUU_API_KEY: testKey, URTUU_BASE_URL: baseUrl } } },
  {
    name: '--base-url and a key file',
    setting: { env: {} },
    options: ` --base-url ${baseUrl} --api-key-file 'the key'`,
  },
  { name: 'XDG_STATE_HOME', setting: { env: { XDG_STATE_HOME: 'HOME/the төлөв' } }, current: 'work' },
];

type Urtuu = (line: string) => Promise<Result>;

/** A state in which a command names another one, and what that one has to end with: 0, unless it says so. */
interface Scene {
  name: string;
  play(here: Desk, urtuu: Urtuu): Promise<Result>;
  code?: Exit;
}

/** A job whose credits last for some of its rows, and then there are more. */
async function leftUnfinished({ project }: Desk, urtuu: Urtuu, options = ''): Promise<Result> {
  project.balance = 25;
  const result = await urtuu(`${partly}${options}`);
  project.balance = 1_000;
  return result;
}

/** A job with a message that fails, and would not again. */
async function leftFailed({ project }: Desk, urtuu: Urtuu, line = personal): Promise<Result> {
  project.options.failing = new Set(numbers(5).slice(0, 1));
  const result = await urtuu(line);
  project.options.failing = new Set();
  return result;
}

const scenes: Scene[] = [
  { name: 'a job without credits', play: leftUnfinished },
  {
    name: 'a job in doubt',
    async play({ project }, urtuu) {
      project.options.instead = ({ method }) => (method === 'POST' ? new Error('ECONNRESET') : undefined);
      const result = await urtuu(`${personal} --max-wait 0s`);
      delete project.options.instead;
      return result;
    },
  },
  {
    name: 'a job at its limit',
    async play(here, urtuu) {
      await leftUnfinished(here, urtuu);
      return urtuu('jobs resume july --max-credits 30');
    },
  },
  { name: 'a finished job with failures', play: leftFailed },
  {
    name: 'a batch with failures',
    play: (here, urtuu) =>
      leftFailed(here, urtuu, `${personal.replace(' {name}', '')} --wait --report report.csv`),
  },
  {
    name: 'the same again after failures',
    async play(here, urtuu) {
      await leftFailed(here, urtuu);
      return urtuu(personal);
    },
  },
  {
    name: 'another plan under the name',
    async play(here, urtuu) {
      await leftUnfinished(here, urtuu);
      here.write('list.csv', ['phone,name', ...people(6)]);
      return urtuu(personal);
    },
  },
  {
    name: 'a job that is not removed',
    async play(here, urtuu) {
      await leftUnfinished(here, urtuu);
      return urtuu('jobs remove july');
    },
  },
  {
    name: 'rows that their job would still send',
    async play(here, urtuu) {
      await leftUnfinished(here, urtuu, ' --report report.csv');
      return urtuu("sms bulk report.csv --only pending --text 'Hello {name}' --yes");
    },
  },
  {
    name: 'a list that an unfinished job would send, too',
    async play(here, urtuu) {
      await leftUnfinished(here, urtuu);
      here.write('list.csv', ['phone,name', ...people(5).reverse()]);
      return urtuu(personal.replace(' --job july', ''));
    },
  },
  {
    name: 'a proof',
    play: (_, urtuu) => urtuu(`${personal} --skip-sent --max-credits 900 --rate 30 --proof 99112233`),
  },
  {
    name: 'a proof that failed',
    async play({ project }, urtuu) {
      project.options.failing = new Set(['99112233']);
      const result = await urtuu(`${personal} --proof 99112233`);
      project.options.failing = new Set();
      return result;
    },
  },
  {
    name: 'rows that were left out',
    async play(here, urtuu) {
      here.write('list.csv', ['phone,name', ...people(5), 'nobody,Dorj']);
      return urtuu(`${personal} --skip-invalid --rejects 'bad rows.csv'`);
    },
    code: 8,
  },
  {
    name: 'no credits for a single send',
    async play({ project }, urtuu) {
      project.options.instead = ({ method }) =>
        method === 'POST' ? refusal(402, 'insufficient_credits') : undefined;
      return urtuu('sms send 99112233 hi');
    },
  },
  {
    name: 'a batch with failures, which fail again',
    code: 9,
    async play({ project }, urtuu) {
      project.options.failing = new Set(numbers(5).slice(0, 1));
      const constant = personal.replace('Hello {name}', 'Hello');
      await urtuu(`${constant} --wait`);
      return urtuu(constant);
    },
  },
];

/** The last command that was printed. */
function printed(stderr: string): Printed {
  const found = printedIn(stderr).at(-1);
  if (found === undefined) throw new Error(`no command was printed: ${stderr}`);
  return found;
}

describe.each(ways)(
  'a printed command goes to the same project ($name)',
  ({ setting, options = '', current }) => {
    it.each(scenes)('after $name', async ({ play, code = 0 }) => {
      const here = desk(people(5));
      const to: string[] = [];
      const { fetch } = here.project.service;
      const watching: typeof fetch = (url, init) => {
        to.push(`${url.slice(0, baseUrl.length)} ${init.headers.Authorization}`);
        return fetch(url, init);
      };
      writeFileSync(join(here.home, 'the key'), testKey);
      const config = (inUse: string | undefined) => {
        const text = JSON.stringify({ ...(inUse ? { current: inUse } : {}), profiles });
        here.writeConfig(text);
      };
      config(current);
      const env = Object.fromEntries(
        Object.entries(setting.env).map(([name, value]) => [name, value.replace('HOME', here.home)]),
      );
      const first = await play(here, (line) => here.run(`${line}${options}`, { env, fetch: watching }));
      const command = printed(first.stderr);
      const elsewhere = join(here.home, 'elsewhere');
      mkdirSync(elsewhere);
      // In another shell and folder, after another `profiles use`. Only a key of the environment has to be there again.
      config('home');
      const { URTUU_API_KEY: key } = setting.env;
      const next = await here.run('', {
        argv: command.words,
        cwd: elsewhere,
        env: { ...(key === undefined ? {} : { URTUU_API_KEY: key }), ...command.variables },
        fetch: watching,
      });
      expect({ command: command.line, code: next.code, stderr: next.stderr }).toMatchObject({ code });
      expect(new Set(to)).toEqual(new Set([`${baseUrl} Bearer ${testKey}`]));
      const got = [...here.project.received().values()];
      expect(got.filter((count) => count > 1)).toEqual([]);
    });
  },
);

describe('a command that resumes another job', () => {
  const scenes: [name: string, play: (here: Desk, limits: string) => Promise<Result>][] = [
    [
      'that would send to the same',
      async (here, limits) => {
        here.write('list.csv', ['phone,name', ...people(5).reverse()]);
        return here.run(`${personal.replace(' --job july', '')} ${limits}`);
      },
    ],
    [
      'of another plan',
      async (here, limits) => {
        here.write('list.csv', ['phone,name', ...people(6)]);
        return here.run(`${personal} ${limits}`);
      },
    ],
  ];
  it.each(scenes)('spends no more than the run may that prints it: %s', async (_, play) => {
    const here = await partlySent();
    const limited = printed((await play(here, '--max-credits 100 --rate 7')).stderr);
    expect(limited.words).toEqual(
      expect.arrayContaining(['jobs', 'resume', 'july', '--max-credits', '100', '--rate', '7']),
    );
    await here.run('jobs resume july --max-credits 30');
    const lower = printed((await play(here, '--max-credits 100')).stderr);
    expect(lower.words).toEqual(expect.arrayContaining(['--max-credits', '30']));
  });

  it.each(['jobs remove july', 'jobs watch july', 'jobs cancel july'])(
    'names the limits of that job: %s',
    async (line) => {
      const here = desk(people(5), { credits: 25 });
      await here.run(`${partly} --max-credits 60 --rate 7`);
      const { words } = printed((await here.run(line)).stderr);
      expect(words).toEqual(['jobs', 'resume', 'july', '--max-credits', '60', '--rate', '7']);
    },
  );
});
