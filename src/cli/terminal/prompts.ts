import { visible } from './sanitise.js';

/** Questions to the person at the terminal; each rejects with `Interrupted` on Ctrl-C. */
export interface Questions {
  text(message: string, check?: (value: string) => string | true): Promise<string>;
  secret(message: string): Promise<string>;
  /** The answer to Enter alone is no. */
  confirm(message: string): Promise<boolean>;
  choose<Value>(message: string, choices: readonly { name: string; value: Value }[]): Promise<Value>;
}

/** The same questions; what stands in them from outside, such as the name of a file, cannot act on the terminal. */
export function safeQuestions(questions: Questions): Questions {
  return {
    text: (message, check) => questions.text(visible(message), check),
    secret: (message) => questions.secret(visible(message)),
    confirm: (message) => questions.confirm(visible(message)),
    choose: (message, choices) =>
      questions.choose(
        visible(message),
        choices.map(({ name, value }) => ({ name: visible(name), value })),
      ),
  };
}
