import type { WriteStream } from 'node:tty';
import ora from 'ora';
import stringWidth from 'string-width';
import type { Draw } from './progress.js';
import type { OutputStream } from './streams.js';

/** Draws with ora; loaded only when there is something to draw. */
export const drawOn =
  (stream: OutputStream, colour: boolean): Draw =>
  async (text) => {
    const terminal = stream as unknown as WriteStream;
    const fitting = (whole: string) => fitted(whole, (terminal.columns || 80) - spinnerColumns);
    const spinner = ora({
      text: fitting(text),
      stream: oneLine(terminal) as WriteStream,
      discardStdin: false,
      color: colour && 'cyan',
    });
    spinner.start();
    return {
      get text() {
        return spinner.text;
      },
      set text(whole) {
        spinner.text = fitting(whole);
      },
      clear: () => void spinner.clear(),
      stop: () => void spinner.stop(),
    };
  };

/** The spinner itself and a blank. */
const spinnerColumns = 2;

/** As much of a text as has room in so many columns. */
export function fitted(text: string, room: number): string {
  if (stringWidth(text) <= room) return text;
  let cut = '';
  let width = 0;
  for (const character of text) {
    width += stringWidth(character);
    if (width >= room) break;
    cut += character;
  }
  return room > 0 ? `${cut}…` : '';
}

/**
 * The terminal as ora may see it: one line without an end, at whose beginning the cursor waits. ora counts the
 * rows that it has to clear when it draws them, and a resize breaks or joins them later. From the beginning of
 * the line everything that became of it can be cleared; and the terminal, which may be narrower already than
 * anybody knows, is told not to break it.
 */
function oneLine(terminal: WriteStream): Partial<WriteStream> {
  return {
    isTTY: true,
    columns: Number.POSITIVE_INFINITY,
    // Where ora does not draw, it writes whole lines, and the terminal may be one without escape sequences.
    write: (text: string | Uint8Array) =>
      terminal.write(String(text).endsWith('\n') ? text : `\u001b[?7l${text}\u001b[?7h\r`),
    clearLine: () => terminal.write('\r\u001b[J'),
    cursorTo: () => true,
    moveCursor: () => true,
    once: terminal.once.bind(terminal),
    removeListener: terminal.removeListener.bind(terminal),
  };
}
