import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { desk, people } from './commands/bulk/desks.js';

const screens = ['sms bulk list.csv --text {name} --dry-run', 'jobs list', 'jobs show july', 'history'];

async function screensAt(terminal: number): Promise<string> {
  const here = desk(people(3));
  await here.run("sms bulk list.csv --text 'Hello' --job july --yes");
  await here.run("sms bulk list.csv --text 'Hello {name}' --yes");
  await here.run('sms send 99112233 Hi');
  const shown: string[] = [];
  for (const screen of screens) {
    const { stdout, stderr } = await here.run(screen, { terminal });
    shown.push(`$ urtuu ${screen}\n${stdout}${stderr}`);
  }
  return stripVTControlCharacters(shown.join('\n'));
}

describe('the screens of an operator', () => {
  it.each([80, 40])('fit %i columns, and stay as they are', async (columns) => {
    const shown = await screensAt(columns);
    expect(shown).toMatchSnapshot();
    const tooLong = shown.split('\n').filter((line) => line.length > columns && !line.startsWith('$'));
    expect(tooLong).toEqual([]);
  });
});
