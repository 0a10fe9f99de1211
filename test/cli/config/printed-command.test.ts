import { describe, expect, it } from 'vitest';
import {
  commandLine,
  type PrintedOptions,
  type PrintingRun,
  withCommands,
} from '../../../src/cli/config/printed-command.js';
import { settingsOf } from '../../../src/cli/config/settings.js';

const profiles = {
  default: { api_key: 'k0', base_url: 'https://sms.example.mn/v1' },
  work: { key_command: 'pass show urtuu', base_url: 'https://work.example.mn/v1' },
  keyless: { base_url: 'https://keyless.example.mn/v1' },
  plain: { api_key: 'k1', base_url: 'http://10.0.0.1/v1', allow_http: true },
};
const resume = ['jobs', 'resume', 'july'];
const env = { URTUU_API_KEY: 'from-env' };
const local = 'http://127.0.0.1:9/v1';
type Row = [printed: string, given: Partial<PrintingRun>];
const destination = (given: Partial<PrintingRun>): PrintingRun => ({
  options: {},
  env: {},
  config: { profiles: {} },
  sandbox: false,
  home: '/home/bat',
  cwd: () => '/srv',
  ...given,
});

const rows: Row[] = [
  ['', {}],
  ['', { env }],
  [' --sandbox', { sandbox: true, env, config: { current: 'work', profiles } }],
  [` --base-url ${local}`, { env: { ...env, URTUU_BASE_URL: local } }],
  [` --base-url ${local}`, { options: { baseUrl: local }, env }],
  [' --api-key-file /run/key', { options: { apiKeyFile: '/run/key' } }],
  [" --api-key-file '/run/the key'", { options: { apiKeyFile: '/run/the key' } }],
  [' --profile default', { config: { profiles } }],
  [' --profile work', { options: { profile: 'work' }, config: { profiles } }],
  [' --profile work', { env: { URTUU_PROFILE: 'work' }, config: { profiles } }],
  [' --profile work', { config: { current: 'work', profiles } }],
  [' --profile plain', { config: { current: 'plain', profiles } }],
  [' --profile work', { options: { profile: 'work' }, env, config: { profiles } }],
  // Named, its own key would go before that of the environment.
  [' --base-url https://work.example.mn/v1', { env, config: { current: 'work', profiles } }],
  [' --profile keyless', { env, config: { current: 'keyless', profiles } }],
  [
    ` --profile work --base-url ${local}`,
    { options: { baseUrl: local }, config: { current: 'work', profiles } },
  ],
  [
    ` --profile work --base-url ${local}`,
    { env: { URTUU_BASE_URL: local }, config: { current: 'work', profiles } },
  ],
  [
    ' --profile work --api-key-file /srv/k',
    { options: { profile: 'work', apiKeyFile: '/srv/k' }, config: { profiles } },
  ],
];

describe('a command to be copied', () => {
  it.each(rows)('goes with `%s`', (printed, given) => {
    const line = commandLine(resume, {}, destination(given), 'linux');
    expect(line.replace(/^URTUU_API_KEY="\$\{URTUU_API_KEY:\?\}" /, '')).toBe(
      `urtuu jobs resume july${printed}`,
    );
  });

  const reaching = rows.filter(([, { sandbox }]) => !sandbox);
  it.each(reaching)('leads to the same base URL and key from another shell: `%s`', (printed, given) => {
    const here = destination(given);
    const words = printed
      .replaceAll("'", '')
      .trim()
      .split(/ (?=--)/)
      .filter(Boolean);
    const said = Object.fromEntries(words.map((each) => each.replace(/^--/, '').split(/ (.*)/, 2)));
    const options = { profile: said.profile, baseUrl: said['base-url'], apiKeyFile: said['api-key-file'] };
    const given2 = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    // Another profile is in use by then; a key from the environment has to be there again.
    const later = { ...here.config, current: 'default' };
    const there = settingsOf(given2, { URTUU_API_KEY: here.env.URTUU_API_KEY }, later);
    const before = settingsOf(here.options, here.env, here.config);
    expect({ baseUrl: there.baseUrl, key: there.key }).toEqual({ baseUrl: before.baseUrl, key: before.key });
  });

  it('names the files it reads from any folder, and standard input as it is', () => {
    const run = destination({ options: { apiKeyFile: 'key' } });
    const options = { '--text-file': 'text.txt', '--html-file': '-' } as const;
    expect(commandLine(resume, options, run, 'linux')).toBe(
      'urtuu jobs resume july --text-file /srv/text.txt --html-file - --api-key-file /srv/key',
    );
  });

  it('names every file from any folder: those of options, the words of a send, and the list of a bulk command', () => {
    const print = (words: string, options: PrintedOptions = {}) =>
      commandLine(words.split(' '), options, destination({}), 'linux');
    expect(print('sms bulk list.csv', { '--report': 'r.csv', '--rejects': '../bad.csv' })).toBe(
      'urtuu sms bulk /srv/list.csv --report /srv/r.csv --rejects /bad.csv',
    );
    expect(print('email send a@b.mn --html-file=n.html --text-file t.txt --subject n.html')).toBe(
      'urtuu email send a@b.mn --html-file=/srv/n.html --text-file /srv/t.txt --subject n.html',
    );
    expect(print('api POST sms --input body.json')).toBe('urtuu api POST sms --input /srv/body.json');
    expect(print('sms bulk - --text-file -')).toBe('urtuu sms bulk - --text-file -');
  });

  it('goes to the same account where its words begin with an option', () => {
    const run = destination({ options: { profile: 'work' }, config: { profiles } });
    expect(commandLine(['-q', 'sms', 'send', '99112233', 'hi'], {}, run, 'linux')).toBe(
      'urtuu -q sms send 99112233 hi --profile work',
    );
    expect(commandLine(['--version'], {}, run, 'linux')).toBe('urtuu --version');
  });

  it.each<[printed: string, given: Partial<PrintingRun>]>([
    ['--profile work', { options: { profile: 'work' }, config: { profiles } }],
    // Another service than that of the profile, which stays as it is.
    [
      '--profile keyless',
      { options: { profile: 'work', baseUrl: profiles.keyless.base_url }, config: { profiles } },
    ],
    [
      `--profile 127.0.0.1-9 --base-url ${local}`,
      { options: { profile: 'work', baseUrl: local }, config: { profiles } },
    ],
    [
      `--profile 127.0.0.1-9 --base-url ${local}`,
      { env: { URTUU_BASE_URL: local }, config: { current: 'work', profiles } },
    ],
    [
      `--base-url ${local}`,
      { options: { baseUrl: local }, config: { current: 'work', profiles: { work: profiles.work } } },
    ],
    [`--base-url ${local}`, { options: { baseUrl: local } }],
    [
      `--profile shop --base-url ${local}`,
      { options: { profile: 'shop', baseUrl: local }, config: { profiles } },
    ],
  ])('signs in with `%s`, and replaces no profile of another service', (printed, given) => {
    expect(commandLine(['login'], {}, destination(given), 'linux')).toBe(`urtuu login ${printed}`);
  });

  it('resumes within the limits of the run, and of what it is given', () => {
    const run = destination({ options: { rate: 5, maxCredits: 50 } });
    expect(commandLine(resume, {}, run, 'linux')).toBe('urtuu jobs resume july --rate 5 --max-credits 50');
    expect(commandLine(resume, { '--max-credits': 80 }, { ...run, sandbox: true }, 'linux')).toBe(
      'urtuu jobs resume july --max-credits 80 --rate 5 --sandbox',
    );
    expect(commandLine(['jobs', 'show', 'july'], {}, run, 'linux')).toBe('urtuu jobs show july');
  });

  it('keeps the options that matter, quoted for the shell', () => {
    const options = {
      '--max-credits': 50,
      '--wait': true,
      '--report': "it's.csv",
      '--rate': undefined,
      '--x': false,
    };
    expect(commandLine(resume, options, destination({}), 'linux')).toBe(
      "urtuu jobs resume july --max-credits 50 --wait --report '/srv/it'\\''s.csv'",
    );
    expect(commandLine(resume, options, destination({}), 'win32')).toBe(
      "urtuu jobs resume july --max-credits '50' --wait --report '/srv/it''s.csv'",
    );
  });

  const set = { XDG_STATE_HOME: '/srv/the state', XDG_CONFIG_HOME: '/srv/config' };
  it.each<[printed: string, words: string, given: Partial<PrintingRun>]>([
    [
      "XDG_STATE_HOME='/srv/the state' XDG_CONFIG_HOME=/srv/config urtuu jobs resume july",
      'jobs resume july',
      { env: set },
    ],
    [
      "XDG_STATE_HOME='/srv/the state' urtuu service status",
      'service status',
      { env: set, options: { profile: 'work' } },
    ],
    ['urtuu jobs show july', 'jobs show july', { env: { XDG_STATE_HOME: '/home/bat/.local/state' } }],
    ['XDG_STATE_HOME=/srv/state urtuu history', 'history', { env: { XDG_STATE_HOME: 'state' } }],
    ['XDG_CONFIG_HOME=/srv/config urtuu login', 'login', { env: { XDG_CONFIG_HOME: '/srv/config' } }],
    [
      'urtuu login --profile plain',
      'login',
      { options: { profile: 'plain', apiKeyFile: 'k' }, config: { profiles } },
    ],
    [
      'URTUU_ALLOW_HTTP=1 urtuu balance --base-url http://10.0.0.1/v1',
      'balance',
      { env: { URTUU_ALLOW_HTTP: '1', URTUU_BASE_URL: 'http://10.0.0.1/v1' } },
    ],
    ['urtuu help sandbox', 'help sandbox', { env: set, sandbox: true }],
    ['urtuu sms send --help', 'sms send --help', { env: set, options: { profile: 'work' } }],
    [
      'urtuu keys list --project Shop --data /srv/d',
      'keys list',
      { options: { data: 'd', project: 'Shop' } },
    ],
    [
      'urtuu service status --data /srv/d',
      'service status',
      { options: { data: '/srv/d', project: 'Shop' } },
    ],
    // A profile is for another service.
    [
      'urtuu service status --data /srv/d',
      'service status',
      { options: { data: '/srv/d', profile: 'work' }, config: { current: 'default', profiles } },
    ],
    ['urtuu keys list --sandbox', 'keys list', { sandbox: true }],
    ['urtuu sandbox reset', 'sandbox reset', { sandbox: true, env: { URTUU_DATABASE: 'postgres://db/u' } }],
    [
      'URTUU_SECRET_FILE=/srv/s urtuu keys list --database postgres://u@db/u',
      'keys list',
      { env: { URTUU_DATABASE: 'postgres://u@db/u', URTUU_SECRET_FILE: 's' } },
    ],
    [
      'URTUU_DATABASE_SCHEMA=two urtuu keys list --database postgres://u@db/u',
      'keys list',
      { env: { URTUU_DATABASE: 'postgres://u@db/u', URTUU_DATABASE_SCHEMA: 'two' } },
    ],
    ['urtuu keys list', 'keys list', { env: { URTUU_DATABASE: 'postgres://u:secret@db/u' } }],
    // Its password is in the variable only.
    [
      'urtuu service move --data /srv/d',
      'service move --data /srv/d --database postgres://u@db/u',
      { env: { URTUU_DATABASE: 'postgres://u:secret@db/u' } },
    ],
    [
      'urtuu service move --data /srv/d --database postgres://u@other/u',
      'service move --data /srv/d --database postgres://u@other/u',
      { env: { URTUU_DATABASE: 'postgres://u:secret@db/u' } },
    ],
    ['urtuu balance', 'balance', { env: { URTUU_DATABASE: 'postgres://u@db/u' }, options: { data: 'd' } }],
  ])('is `%s`', (printed, words, given) => {
    expect(commandLine(words.split(' '), {}, destination(given), 'linux')).toBe(printed);
  });

  it.each<[isAsked: boolean, given: Partial<PrintingRun>]>([
    [false, { env }],
    [true, { env, config: { profiles } }],
    [false, { env: { URTUU_API_KEY: 'k0' }, config: { profiles: { default: profiles.default } } }],
    [true, { env: { URTUU_API_KEY: 'k0' }, config: { profiles: { work: profiles.work } } }],
    [false, { env, config: { profiles: { keyless: profiles.keyless } } }],
    [false, { env, config: { profiles }, options: { profile: 'work' } }],
    [false, { env, config: { profiles }, options: { apiKeyFile: 'k' } }],
    [false, { env, config: { profiles }, sandbox: true }],
  ])('asks for the key of the environment where a profile has another one: %s, %j', (isAsked, given) => {
    const line = commandLine(resume, {}, destination(given), 'linux');
    expect(/^URTUU_API_KEY="\$\{URTUU_API_KEY:\?\}" urtuu /.test(line)).toBe(isAsked);
    expect(commandLine(resume, {}, destination(given), 'win32')).toMatch(/^urtuu /);
  });

  const other = { '--base-url': 'https://other.example.mn/v1' };
  const workUrl = { '--base-url': profiles.work.base_url };
  it.each<[printed: string, options: PrintedOptions, given: Partial<PrintingRun>]>([
    ['--profile default', { '--base-url': profiles.default.base_url }, { config: { profiles } }],
    ['--profile work', workUrl, { config: { profiles } }],
    ['--profile work', workUrl, { config: { profiles }, options: { profile: 'plain' }, sandbox: true }],
    ['--base-url https://other.example.mn/v1', other, { config: { profiles } }],
    ['--base-url https://other.example.mn/v1', other, { options: { apiKeyFile: 'k' } }],
    ['--sandbox', { '--sandbox': true }, { config: { profiles } }],
  ])('leads a job to its own service: `%s`', (printed, options, given) => {
    expect(commandLine(resume, options, destination(given), 'linux')).toBe(
      `urtuu jobs resume july ${printed}`,
    );
  });

  it('keeps the rate of a run for every job that it names', () => {
    const given = destination({ options: { rate: 5 } });
    expect(commandLine(resume, {}, given, 'linux')).toBe('urtuu jobs resume july --rate 5');
    expect(commandLine(['jobs', 'show', 'july'], {}, given, 'linux')).toBe('urtuu jobs show july');
  });

  it('sets a variable in PowerShell', () => {
    expect(commandLine(resume, {}, destination({ env: { XDG_STATE_HOME: "D:\\it's" } }), 'win32')).toMatch(
      /^\$env:XDG_STATE_HOME='.*it''s'; urtuu jobs resume july$/,
    );
  });

  it('stands in a hint between backticks', () => {
    const hint = 'Check with: `urtuu doctor`; or: `urtuu verify create`';
    expect(withCommands(hint, (words) => words.join('+'))).toBe('Check with: doctor; or: verify+create');
  });

  it('stands there with spaces and quotes in its words', () => {
    const hint = "Go on: `urtuu service move --data '/srv/the ox''s' --database 'postgres://db/x'`";
    const words = ['service', 'move', '--data', "/srv/the ox's", '--database', 'postgres://db/x'];
    expect(withCommands(hint, (each) => JSON.stringify(each))).toBe(`Go on: ${JSON.stringify(words)}`);
  });
});
