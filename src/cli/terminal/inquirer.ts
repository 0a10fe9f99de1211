import { confirm, input, password, select } from '@inquirer/prompts';
import { Interrupted } from '../errors.js';
import type { Questions } from './prompts.js';
import type { InputStream, OutputStream } from './streams.js';

/** Questions on the real terminal: read from standard input, written to standard error. */
export function questions(stdin: InputStream, stderr: OutputStream): Questions {
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
    text: (message, check) => asked(input({ message, ...(check ? { validate: check } : {}) }, context)),
    secret: (message) => asked(password({ message, mask: true }, context)),
    confirm: (message) => asked(confirm({ message, default: false }, context)),
    choose: (message, choices) => asked(select({ message, choices: [...choices] }, context)),
  };
}
