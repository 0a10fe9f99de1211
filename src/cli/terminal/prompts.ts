/** Questions to the person at the terminal; each rejects with `Interrupted` on Ctrl-C. */
export interface Questions {
  text(message: string, check?: (value: string) => string | true): Promise<string>;
  secret(message: string): Promise<string>;
  /** The answer to Enter alone is no. */
  confirm(message: string): Promise<boolean>;
  choose<Value>(message: string, choices: readonly { name: string; value: Value }[]): Promise<Value>;
}
