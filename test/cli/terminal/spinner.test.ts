import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { cutTo, drawOn } from '../../../src/cli/terminal/spinner.js';
import type { OutputStream } from '../../../src/cli/terminal/streams.js';

/** A terminal that keeps what is written to it. */
class Screen extends EventEmitter {
  readonly isTTY = true;
  readonly columns = 20;
  written = '';
  write(text: string) {
    this.written += text;
    return true;
  }
}

describe('the drawn line', () => {
  it.each([
    ['Sending', 20, 'Sending'],
    ['Sending it all', 10, 'Sending i…'],
    ['Сайн байна уу', 6, 'Сайн …'],
    ['你好你好', 5, '你好…'],
    ['x', 0, ''],
  ])('%s has room in %i columns as %s', (text, room, cut) => expect(cutTo(text, room)).toBe(cut));

  it('is one row, and the cursor waits at its beginning, so that a resize leaves nothing of it', async () => {
    const screen = new Screen();
    const drawing = drawOn(screen as unknown as OutputStream, false)('x'.repeat(50));
    drawing.text = 'y'.repeat(50);
    expect(screen.written).toContain(`${'x'.repeat(17)}…`);
    await vi.waitFor(() => expect(screen.written).toContain(`${'y'.repeat(17)}…`));
    for (const frame of screen.written.split('\r').filter((text) => /[xy]/.test(text))) {
      expect(frame).toMatch(/^\u001b\[(?:K\u001b\[J\u001b\[)?\?7l.*\u001b\[\?7h$/);
    }
    expect(screen.written).not.toContain('\u001b[36m');
    drawing.clear();
    expect(screen.written.endsWith('\r\u001b[K\u001b[J')).toBe(true);
    screen.written = '';
    drawing.stop();
    expect(stripVTControlCharacters(screen.written).trim()).toBe('');
    expect(screen.written).toContain('\u001b[?25h');
  });
});
