import { confirm, input, password, select } from '@inquirer/prompts';
import { Interrupted } from '../errors.js';
import type { Questions } from './prompts.js';
import type { InputStream, OutputStream } from './streams.js';

const same = (text: string) => text;

/** The looks of a question without colours; inquirer itself knows of NO_COLOR, but not of our option. */
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

/** Questions on the real terminal: read from standard input, written to standard error. */
export function questions(stdin: InputStream, stderr: OutputStream, colour: boolean): Questions {
  const theme = colour ? {} : plain;
  const context = {
    input: stdin as unknown as NodeJS.ReadableStream,
    output: stderr as unknown as NodeJS.WritableStream,
  };
  const asked = async <Value>(answer: Promise<Value>): Promise<Value> => {
    try {
      return await answer;
    } catch (error) {
      throw (error as Error).name === 'ExitPromptError' ? new Interrupted() : error;
    }
  };
  return {
    text: (message, check) =>
      asked(input({ message, theme, ...(check ? { validate: check } : {}) }, context)),
    secret: (message) => asked(password({ message, theme, mask: true }, context)),
    confirm: (message) => asked(confirm({ message, theme, default: false }, context)),
    choose: (message, choices) => asked(select({ message, theme, choices: [...choices] }, context)),
  };
}
