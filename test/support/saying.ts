import { expect } from 'vitest';

/** To match the result of a command with: it ended so, and said this on standard error. */
export const saying = (code: number | string, said: string | RegExp) => ({
  code,
  stderr: typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said),
});
