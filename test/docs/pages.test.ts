import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { root } from '../support/binary.js';
import { freshCopy, timed } from './fresh-copy.js';
import { notRun, testedElsewhere } from './not-run.js';
import { type Block, blocksOf, exchangesOf, pages, textOf } from './pages.js';
import { installSystemd, ReaderMachine } from './reader-machine.js';

const at = ({ page, line }: Block) => `${page}:${line}`;
const nameOf = ({ page, code }: Block) => `${page}: ${code.split('\n')[0]}`;
const all = pages.flatMap(blocksOf);

const action: { inputs: Record<string, { required?: boolean }> } = parseYaml(
  readFileSync(join(root, 'deploy/action/action.yml'), 'utf8'),
);

/** Without what differs from run to run. */
const stable = (text: string) =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/sms-[0-9a-f]{20}/g, 'JOB')
    .replaceAll(/rejects\/[\w-]+\.csv/g, 'REJECTS')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/"(request_id)":"[\w-]+"/g, '"$1":"ID"')
    .trimEnd();

/** Every text below a key, however deep, as the `run` of steps. */
function textsUnder(key: string, node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap((item) => textsUnder(key, item));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name !== key ? textsUnder(key, value) : [value].flat().filter((item) => typeof item === 'string'),
  );
}

/** The inputs that steps give to the action of this repository. */
const withOfAction = (document: unknown): Record<string, string>[] =>
  Array.isArray(document)
    ? document.flatMap((step) => (/\/urtuu$/.test(step?.uses ?? '') ? [step.with] : []))
    : [];

/** The variables that stand beside the commands of a pipeline; its secrets are those of the machine. */
function variablesOf(document: unknown): Record<string, string> {
  if (Array.isArray(document)) return Object.assign({}, ...document.map(variablesOf));
  if (typeof document !== 'object' || document === null) return {};
  const entries = Object.entries(document).flatMap(([name, value]) =>
    name === 'env' ? Object.entries(value as object) : Object.entries(variablesOf(value)),
  );
  return Object.fromEntries(
    entries.filter(([, value]) => typeof value === 'string' && !value.includes('${{')),
  );
}

/** The service of the systemd unit, as the page about running it installs it. */
async function withUnit(machine: ReaderMachine): Promise<void> {
  installSystemd(machine);
  const unit = blocksOf('docs/running.md').find(({ code }) => code.includes('systemctl enable'));
  expect(await machine.bash(unit?.code ?? '')).toMatchObject({ code: 0 });
}

const runners: Record<string, (block: Block, machine: ReaderMachine) => Promise<void> | void> = {
  async sh({ code }, machine) {
    const { code: exit, stdout, stderr } = await machine.bash(code);
    expect({ exit, output: exit === 0 ? '' : stdout + stderr }).toEqual({ exit: 0, output: '' });
  },

  async console(block, machine) {
    const exchanges = exchangesOf(block);
    expect(exchanges).not.toEqual([]);
    for (const { command, printed } of exchanges) {
      const result = await machine.run('bash', ['-c', `{ ${machine.localized(command)}\n} 2>&1`]);
      const shown = machine.pretended(result.stdout);
      if (process.env.URTUU_UPDATE_DOCS && stable(shown) !== stable(printed)) {
        const page = textOf(block.page).replace(`$ ${command}\n${printed}`, () => `$ ${command}\n${shown}`);
        writeFileSync(join(root, block.page), page);
      } else {
        expect({ command, printed: stable(shown) }).toEqual({ command, printed: stable(printed) });
      }
    }
  },

  async js({ code, line }, machine) {
    const file = machine.write(`block-${line}.mjs`, machine.localized(code));
    const { code: exit, stdout, stderr } = await machine.run(process.execPath, [file]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    if (code.includes('console.log')) expect(stdout).not.toBe('');
  },

  async yaml({ code }, machine) {
    const document = parseYaml(code, { strict: true });
    const commands = textsUnder('run', document);
    const run = {
      GITHUB_RUN_ID: '17',
      CI: 'true',
    };
    const { URTUU_BASE_URL: _, ...bare } = machine.environment;
    for (const command of commands) {
      const variables = Object.entries(variablesOf(document)).map(([name, value]) => [
        name,
        machine.localized(value),
      ]);
      const env = { ...bare, ...run, ...Object.fromEntries(variables) };
      const { code: exit, stderr } = await machine.bash(command, env);
      expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
    }
    for (const inputs of withOfAction(document)) {
      expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(inputs)));
      const required = Object.entries(action.inputs).flatMap(([name, { required }]) =>
        required ? [name] : [],
      );
      expect(Object.keys(inputs)).toEqual(expect.arrayContaining(required));
    }
    expect(commands.length).toBeGreaterThan(0);
    expect(code).toContain('https://api.example.com/v1');
  },

  /** As cron does: its variables, and nothing else but a home, a shell and a short path. */
  async crontab({ code }, machine) {
    const lines = machine.localized(code).trim().split('\n');
    const { PATH: installed = '', HOME = '' } = machine.environment;
    const env: Record<string, string> = { PATH: '/usr/bin:/bin', HOME, SHELL: '/bin/sh', LOGNAME: 'someone' };
    for (const line of lines) {
      const [, name = '', value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      // Where npm installs commands on most machines.
      if (name !== '') env[name] = value.replace('/usr/local/bin', installed);
    }
    const [job = ''] = lines.flatMap((line) => /^(?:[\d*/,-]+ ){5}(.+)$/.exec(line)?.[1] ?? []);
    expect(job).not.toBe('');
    const run = () => machine.run('/bin/sh', ['-c', job.replaceAll('\\%', '%')], env);
    expect(await run()).toMatchObject({ code: 0 });
    const again = await run();
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('nothing was sent this time');
  },

  /** The picture of the README. */
  text: ({ code }) => expect(code).toContain('--> carrier -->'),

  csv({ code }) {
    expect(parseCsv(code, { columns: true }).length).toBeGreaterThan(0);
  },

  json({ code }) {
    JSON.parse(code);
  },

  /** Of a mail server: its pipe calls a command that is there, with options that it has. */
  async conf({ code }, machine) {
    const options = [...code.matchAll(/ (--[a-z]+)/g)].map(([, option = '']) => option);
    expect(code).toContain('urtuu service incoming --to ');
    const { stdout } = await machine.bash('urtuu service incoming --help');
    for (const option of options) expect(stdout).toContain(`${option} <`);
  },

  // Those of nginx and HAProxy run in test/peers/proxies.test.ts.
  nginx: ({ code }) => expect(code).toContain('proxy_set_header Host'),
  haproxy: ({ code }) => expect(code).toContain('option httpchk GET /readyz'),

  /** The lines of "Try it", which tests below type. */
  indented({ page, code }) {
    expect(page).toBe('README.md');
    expect(code).toMatch(/^(?:npm ci && )?node bin\/urtuu\.js /);
  },
};

it('a page that another test runs has that test, and parses', async () => {
  await using machine = await ReaderMachine.open();
  for (const [page, test] of Object.entries(testedElsewhere).filter(([each]) => pages.includes(each))) {
    expect(existsSync(join(root, test)), test).toBe(true);
    const blocks = blocksOf(page);
    const shell = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
    const parsed = await machine.run('bash', ['-n', '-c', shell.join('\n')]);
    expect({ page, ...parsed }).toMatchObject({ page, code: 0, stderr: '' });
    for (const { language, code } of blocks) if (language === 'json') JSON.parse(code);
  }
});

describe('a block that no test runs', () => {
  it.each(Object.entries(notRun))('is still there: %s (%s)', (name) => {
    expect(all.map(nameOf)).toContain(name);
  });

  it.each(
    all
      .filter((block) => nameOf(block) in notRun && block.language === 'sh')
      .map((block) => [nameOf(block), block]),
  )('is shell: %s', async (_, block) => {
    await using machine = await ReaderMachine.open();
    const checked = await machine.run('bash', ['-n', '-c', (block as Block).code]);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a reader', () => {
  it.concurrent('sends the first message of the README within 10 seconds', async () => {
    const [block] = blocksOf('README.md').filter(({ language }) => language === 'console');
    const line = /^\$ (.*)$/m.exec(block?.code ?? '')?.[1] ?? '';
    expect(line).toMatch(/^urtuu sms send .* --sandbox$/);
    using copy = freshCopy();
    const { result, seconds } = await timed(() => copy.type(line));
    expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^status +sent$/m) });
    expect(seconds).toBeLessThan(10);
  });

  it.concurrent('sends the message and the bulk job of "Try it" within 60 seconds, and nobody a second message when it runs again', async () => {
    const lines = blocksOf('README.md').filter(({ language }) => language === 'indented');
    const [first = '', line = ''] = lines.map(({ code }) => code.trim().replace(/^npm ci && /, ''));
    expect(first).toMatch(/^node bin\/urtuu\.js sms send /);
    expect(line).toMatch(/^node bin\/urtuu\.js sms bulk /);
    using copy = freshCopy();
    expect(await copy.type(first)).toMatchObject({ code: 0 });
    const { result, seconds } = await timed(() => copy.type(line));
    expect(result).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('2,600 sent. Every outcome is known.'),
    });
    expect(seconds).toBeLessThan(60);
    expect(await copy.type(line)).toMatchObject({ code: 11 });
  }, 90_000);

  // Most of the time goes into waits for rates and retries, and for the other pages, which are typed at once.
  it.concurrent.each(pages.filter((page) => blocksOf(page).length > 0 && !(page in testedElsewhere)))(
    'types every block of a page, in their order, and it works as it stands: %s',
    async (page) => {
      await using machine = await ReaderMachine.open();
      if (page === 'docs/running.md') installSystemd(machine);
      if (page === 'docs/operate.md') await withUnit(machine);
      for (const block of blocksOf(page)) {
        const run = runners[block.language];
        if (run === undefined) throw new Error(`${at(block)}: no runner for '${block.language}'`);
        if (!(nameOf(block) in notRun)) await run(block, machine);
      }
    },
    120_000,
  );
});
