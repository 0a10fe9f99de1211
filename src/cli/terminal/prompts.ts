import { visible } from './sanitise.js';

/** Each one rejects with `Interrupted` on Ctrl-C. */
export interface Questions {
  text(message: string, check?: (value: string) => string | true): Promise<string>;
  secret(message: string, check?: (value: string) => string | true): Promise<string>;
  /** Enter alone means no. */
  confirm(message: string): Promise<boolean>;
  choose<Value>(message: string, choices: readonly { name: string; value: Value }[]): Promise<Value>;
}

/** Makes untrusted names, such as a file's, safe for the terminal. */
export function safeQuestions(questions: Questions): Questions {
  return {
    text: (message, check) => questions.text(visible(message), check),
    secret: (message, check) => questions.secret(visible(message), check),
    confirm: (message) => questions.confirm(visible(message)),
    choose: (message, choices) =>
      questions.choose(
        visible(message),
        choices.map(({ name, value }) => ({ name: visible(name), value })),
      ),
  };
}
