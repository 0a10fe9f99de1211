import { describe, expect, it } from 'vitest';
import { widthFor } from '../../../src/cli/terminal/width.js';
import { smsResult } from '../../support/resources.js';
import { fakeService, run } from '../../support/run.js';

const rows: Record<string, object> = {
  a: { to: 'Бат', credits: 10, status: 'sent', sent_at: '2026-11-21T00:00:00.000Z' },
  b: { to: '数字', credits: 2000, status: 'failed' },
  c: { to: 'e\u0301❤️', credits: null, status: '=1+1' },
};
const service = () =>
  fakeService(({ path }) => {
    const id = path.split('/')[2] ?? '';
    return { body: { id, channel: 'sms', ...rows[id] } };
  });
const get = (words: string, setting = {}) => run(`messages get a b c ${words}`, { ...service(), ...setting });
const columns = '--columns to,credits,status';

describe('output', () => {
  it('lines up Cyrillic, wide and combined characters in a table', async () => {
    const { stdout } = await get(columns);
    expect(stdout).toBe(
      [
        'TO    CREDITS  STATUS',
        'Бат        10  sent',
        '数字    2,000  failed',
        'e\u0301❤️            =1+1',
        '',
      ].join('\n'),
    );
    const width = await widthFor([stdout]);
    const ends = stdout
      .trimEnd()
      .split('\n')
      .map((line) => width(line.replace(/\S+$/, '')));
    expect(new Set(ends).size).toBe(1);
  });

  it('leaves out the header with --no-header, of table, csv and tsv', async () => {
    for (const format of ['table', 'csv', 'tsv']) {
      const { stdout } = await get(`${columns} --no-header -o ${format}`);
      expect(stdout.toLowerCase()).not.toContain('credits');
    }
  });

  it('turns into cards where the terminal is too narrow', async () => {
    const { stdout } = await get(`${columns} --no-color`, { terminal: 20 });
    expect(stdout.split('\n\n')).toHaveLength(3);
    expect(stdout).toContain('to       Бат\ncredits  10\nstatus   sent\n');
    expect((await get(`${columns} --no-color`, { terminal: 21 })).stdout).toContain('TO    CREDITS');
  });

  it('colours for a terminal, by NO_COLOR, FORCE_COLOR and --no-color', async () => {
    const coloured = async (words: string, setting: object) =>
      (await get(words, setting)).stdout.includes('\u001b[');
    const key = { URTUU_API_KEY: 'k' };
    expect(await coloured('', { terminal: 200 })).toBe(true);
    expect(await coloured('', {})).toBe(false);
    expect(await coloured('', { terminal: 200, env: { ...key, NO_COLOR: '1' } })).toBe(false);
    expect(await coloured('', { terminal: 200, env: { ...key, TERM: 'dumb' } })).toBe(false);
    expect(await coloured('', { env: { ...key, FORCE_COLOR: '1' } })).toBe(true);
    expect(await coloured('--no-color', { env: { ...key, FORCE_COLOR: '1' } })).toBe(false);
    expect(await coloured('--json', { terminal: 200, env: { ...key, FORCE_COLOR: '1' } })).toBe(false);
  });

  it('shows local time to people and ISO time to programs', async () => {
    const at = new Date('2026-11-21T00:00:00.000Z');
    const local = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')} ${String(at.getHours()).padStart(2, '0')}:00:00`;
    expect((await get('--columns sent_at --no-header')).stdout).toContain(local);
    expect((await get('--columns sent_at -o tsv --no-header')).stdout).toContain('2026-11-21T00:00:00.000Z');
  });

  it('picks columns in every format', async () => {
    expect((await get('--columns id,credits -o tsv')).stdout).toBe('id\tcredits\na\t10\nb\t2000\nc\t\n');
    expect(JSON.parse((await get('--columns id,credits --json')).stdout)).toEqual([
      { id: 'a', credits: 10 },
      { id: 'b', credits: 2000 },
      { id: 'c', credits: null },
    ]);
    expect((await get('--columns id,nope')).stderr).toContain("unknown column 'nope'");
  });

  it('masks recipients when asked to, and by itself in the tables of CI', async () => {
    const number = () => fakeService(() => ({ body: smsResult() }));
    const key = { URTUU_API_KEY: 'k' };
    expect((await run('messages get m --mask --json', number())).stdout).toContain('"9911**33"');
    expect((await run('messages get m', { ...number(), env: { ...key, CI: 'true' } })).stdout).toContain(
      '9911**33',
    );
    expect(
      (await run('messages get m --json', { ...number(), env: { ...key, CI: 'true' } })).stdout,
    ).toContain('99112233');
  });

  it('is safe in a spreadsheet', async () => {
    const service = fakeService(() => ({
      body: { id: '=1+1', status: '@x', to: '+976', channel: 'a;b', credits: -5 },
    }));
    const { stdout } = await run(
      'messages get m -o csv --no-header --columns id,status,to,channel,credits',
      service,
    );
    expect(stdout).toBe("'=1+1,'@x,'+976,\"a;b\",-5\r\n");
  });

  it('prints an empty list as [] and says so to people', async () => {
    expect(JSON.parse((await run('profiles list --json')).stdout)).toEqual([]);
    const table = await run('profiles list');
    expect(table.stdout).toBe('');
    expect(table.stderr).toContain('No profiles');
    expect((await run('profiles list --quiet')).stderr).toBe('');
  });
});
