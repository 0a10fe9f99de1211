/** The first and last of consecutive messages. */
export type MessageRun = [first: number, last: number];

/** Groups messages by consecutive numbers, whatever their order. */
export function runsOf(messages: readonly number[]): MessageRun[] {
  const runs: MessageRun[] = [];
  for (const message of [...messages].sort((one, other) => one - other)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === message - 1) run[1] = message;
    else runs.push([message, message]);
  }
  return runs;
}
