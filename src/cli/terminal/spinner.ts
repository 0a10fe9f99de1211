import type { WriteStream } from 'node:tty';
import ora from 'ora';
import stringWidth from 'string-width';
import type { Draw } from './progress.js';
import type { OutputStream } from './streams.js';

/** Draws with ora; loaded late. */
export const drawOn =
  (stream: OutputStream, colour: boolean): Draw =>
  (text) => {
    const terminal = stream as unknown as WriteStream;
    const shortened = (whole: string) => cutTo(whole, (terminal.columns || 80) - spinnerColumns);
    const spinner = ora({
      text: shortened(text),
      stream: oneLine(terminal) as WriteStream,
      discardStdin: false,
      // The caller decides; ora would look for CI in the environment.
      isEnabled: true,
      color: colour && 'cyan',
    });
    spinner.start();
    return {
      get text() {
        return spinner.text;
      },
      set text(whole) {
        spinner.text = shortened(whole);
      },
      clear: () => void spinner.clear(),
      stop: () => void spinner.stop(),
    };
  };

/** The spinner and a space. */
const spinnerColumns = 2;

/** Cuts a text to a number of columns. */
export function cutTo(text: string, room: number): string {
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
 * A terminal for ora with one endless line and the cursor at its start. ora counts the rows to clear when it draws
 * them, but a resize wraps or joins them later; clearing from the start of the line works after any resize. Wrapping
 * is off while it draws, since the terminal may already be narrower.
 */
function oneLine(terminal: WriteStream): Partial<WriteStream> {
  return {
    isTTY: true,
    columns: Number.POSITIVE_INFINITY,
    // Without a drawing, ora writes whole lines, perhaps to a terminal that has no escape sequences.
    write: (text: string | Uint8Array) =>
      terminal.write(String(text).endsWith('\n') ? text : `\u001b[?7l${text}\u001b[?7h\r`),
    // The line by itself first: from the top of the screen, tmux moves what it clears below into its history.
    clearLine: () => terminal.write('\r\u001b[K\u001b[J'),
    cursorTo: () => true,
    moveCursor: () => true,
    once: terminal.once.bind(terminal),
    removeListener: terminal.removeListener.bind(terminal),
  };
}
