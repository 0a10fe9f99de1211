import { confirm, input, password, select } from '@inquirer/prompts';
import { Interrupted, usageError } from '../errors.js';
import type { Questions } from './prompts.js';
import type { InputStream, OutputStream } from './streams.js';
import { wrapper } from './wrap.js';

const same = (text: string) => text;

/** Without colours: inquirer supports NO_COLOR, but not --no-color. */
const plain = {
  prefix: { idle: '?', done: '✔' },
  style: {
    answer: same,
    message: same,
    error: (text: string) => `> ${text}`,
    defaultAnswer: (text: string) => `(${text})`,
    help: same,
    highlight: same,
    keysHelpTip: (keys: [key: string, action: string][]) => keys.map((each) => each.join(' ')).join(' • '),
  },
};

type Terminal = NodeJS.ReadStream;

/** Prompts on the real terminal, from standard input to standard error. */
export function questions(stdin: InputStream, stderr: OutputStream, colour: boolean): Questions {
  const theme = colour ? {} : plain;
  const terminal = stdin as unknown as Terminal;
  const output = stderr as unknown as NodeJS.WritableStream;
  const asked = async <Value>(
    ask: (context: { input: Terminal; output: NodeJS.WritableStream; signal: AbortSignal }) => Promise<Value>,
  ): Promise<Value> => {
    const { signal, forget } = untilEnd(terminal);
    try {
      return await ask({ input: terminal, output, signal });
    } catch (error) {
      const { name } = error as Error;
      if (name === 'ExitPromptError') throw new Interrupted();
      if (name === 'AbortPromptError') throw usageError('no answer to the prompt', 'Nothing was done.');
      throw error;
    } finally {
      forget();
    }
  };
  /** Breaks between words; inquirer would break at the edge. */
  const fitted = async (message: string) =>
    (await wrapper())(message, (stderr.columns ?? 80) - besides, prefixColumns);
  return {
    text: (text, check) =>
      asked(async (context) => {
        const message = await fitted(text);
        return input({ message, theme, ...(check ? { validate: check } : {}) }, context);
      }),
    secret: (text, check) =>
      asked(async (context) => {
        const message = await fitted(text);
        return password({ message, theme, mask: true, ...(check ? { validate: check } : {}) }, context);
      }),
    confirm: (text) =>
      asked(async (context) => confirm({ message: await fitted(text), theme, default: false }, context)),
    choose: (text, choices) =>
      asked(async (context) =>
        select({ message: await fitted(text), theme, choices: [...choices] }, context),
      ),
  };
}

/** `? ` before a question, and ` (y/N)` with the cursor behind it. */
const prefixColumns = 2;
const besides = prefixColumns + 7;

/**
 * Aborts when the input has ended. Otherwise inquirer waits forever, and the process ends by itself with exit code 0.
 */
function untilEnd(terminal: Terminal): { signal: AbortSignal; forget(): void } {
  const ended = new AbortController();
  let isOver = false;
  const end = () => ended.abort();
  // readline pauses its input after Ctrl-D, and after Ctrl-Z has suspended the process.
  const onPause = () =>
    setImmediate(() => {
      if (isOver) return;
      if (terminal.isRaw) terminal.resume();
      else end();
    });
  terminal.on('pause', onPause).on('end', end).on('close', end).on('error', end);
  return {
    signal: ended.signal,
    forget() {
      isOver = true;
      terminal.off('pause', onPause).off('end', end).off('close', end).off('error', end);
    },
  };
}
