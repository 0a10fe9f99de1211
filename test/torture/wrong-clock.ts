import { join } from 'node:path';
import { root } from '../support/binary.js';

/** The environment of a Node.js whose clock is wrong by so many milliseconds, or set every second. */
export const wrongClock = (wrong: string | number): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--require ${JSON.stringify(join(root, 'test/torture/stepped-clock.cjs'))}`,
  URTUU_CLOCK: String(wrong),
});
