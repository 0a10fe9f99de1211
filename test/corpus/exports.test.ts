import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder } from '../support/folders.js';
import { seededRandom } from '../support/random.js';
import { run } from '../support/run.js';
import { exportedLists, peopleOf } from './exports.js';

const lists = exportedLists(peopleOf(seededRandom(53)));

describe('a list that a program exported arrives as it shows it', () => {
  it.each(lists)('$name', async ({ file, bytes, channel, options, text, expected }) => {
    const home = emptyFolder();
    writeFileSync(join(home, file), bytes);
    const given = [
      ...(channel === 'email' ? ['--subject', 'Hi'] : []),
      ...(options.encoding === undefined ? [] : ['--encoding', options.encoding]),
      ...(options.headerRow === undefined ? [] : ['--header-row', String(options.headerRow)]),
    ];
    const setting = { home, cwd: home, env: {} };
    const argv = [channel, 'bulk', file, '--text', text, ...given, '--sandbox', '--yes'];
    const { code, stderr } = await run('', { ...setting, argv });
    const outbox = JSON.parse((await run('sandbox outbox --json', setting)).stdout);
    const arrived = outbox.map((message: { to: string; text: string }) => ({
      to: message.to,
      text: message.text,
    }));
    if ('refused' in expected) {
      expect(stderr).toContain(expected.refused);
      expect({ code, arrived }).toEqual({ code: 8, arrived: [] });
    } else {
      expect(code, stderr).toBe(0);
      expect(arrived).toHaveLength(expected.length);
      expect(arrived).toEqual(expect.arrayContaining(expected));
    }
  });
});
