import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { testFolder } from '../support/folders.js';
import { noTmux } from '../terminal/tmux.js';

interface Shown {
  /** The texts with their places, figures apart: they differ from run to run. */
  texts: string[];
  width: number;
  /** Where each text ends. */
  ends: number[];
}

function shown(svg: string): Shown {
  const found: Shown = { texts: [], width: 0, ends: [] };
  const parser = new SaxesParser();
  let place = '';
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'svg') found.width = Number(attributes.width);
    place = name === 'text' ? `${attributes.x},${attributes.y}` : '';
    if (name === 'text') found.ends.push(Number(attributes.x) + Number(attributes.textLength));
  });
  parser.on('text', (text) => {
    if (place !== '' && text.trim() !== '') found.texts.push(`${place} ${text.replaceAll(/\d+/g, '0')}`);
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(svg).close();
  return found;
}

const picture = readFileSync(join(root, 'docs/bulk.svg'), 'utf8');

describe('the picture in the README', () => {
  it('is well-formed, loads nothing from elsewhere, and holds every text within its window', () => {
    const { texts, width, ends } = shown(picture);
    expect(texts.length).toBeGreaterThan(10);
    expect(Math.max(...ends)).toBeLessThan(width);
    expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
      /https?:|<script|<image|@import/,
    );
  });

  it.skipIf(noTmux() !== null)(
    'shows what the command prints; else run node scripts/make-picture.js',
    async () => {
      const folder = testFolder();
      const file = join(folder, 'now.svg');
      await promisify(execFile)(process.execPath, [join(root, 'scripts/make-picture.js'), file]);
      expect(shown(picture).texts).toEqual(shown(readFileSync(file, 'utf8')).texts);
    },
  );
});
