import ora from 'ora';
import type { Draw } from './progress.js';
import type { OutputStream } from './streams.js';

/** Draws with ora; loaded only when there is something to draw. */
export const drawOn =
  (stream: OutputStream): Draw =>
  async (text) => {
    return ora({
      text,
      stream: stream as unknown as NodeJS.WritableStream,
      discardStdin: false,
    }).start();
  };
