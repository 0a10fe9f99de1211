import type { Command } from 'commander';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exitOfFailure, exits } from '../exit-codes.js';
import { readDuration } from '../input/duration.js';

export interface WaitOptions {
  wait?: boolean;
  /** Milliseconds. */
  waitTimeout?: number;
}

const defaultTimeout = 600_000;
const firstPause = 250;
const longestPause = 5_000;

export function addWaitOptions(command: Command, until: string): void {
  command
    .option('--wait', `wait until ${until}`)
    .option('--wait-timeout <duration>', 'how long --wait waits (default 10m)', readDuration);
}

export const deadlineOf = (context: Context, options: WaitOptions): number =>
  context.clock.now() + (options.waitTimeout ?? defaultTimeout);

/** The newest state, and the error that ended the waiting for another. */
export interface Awaited<State> {
  state: State;
  problem: { error: unknown } | null;
}

/**
 * Reads again and again, with growing pauses, until the state is final or the deadline has passed. A read that
 * fails for now is tried again within the time.
 */
export async function readUntilFinal<State>(
  context: Context,
  deadline: number,
  first: State,
  isFinal: (state: State) => boolean,
  read: () => Promise<State>,
): Promise<Awaited<State>> {
  let state = first;
  for (let pause = firstPause; !isFinal(state); pause = Math.min(pause * 2, longestPause)) {
    const left = deadline - context.clock.now();
    if (left <= 0) break;
    try {
      await context.clock.sleep(Math.min(pause, left), context.signal);
      state = await read();
    } catch (error) {
      if (!passes(error)) return { state, problem: { error } };
    }
  }
  return { state, problem: null };
}

function passes(error: unknown): boolean {
  const { code, status } = error as { code?: unknown; status?: number | null };
  if (typeof code !== 'string' || status === undefined) return false;
  return exitOfFailure({ code, status }, 'reading') === exits.later;
}

export const notFinal = (what: string): CliError =>
  new CliError('not_final', exits.notFinal, `${what} is not final yet`, {
    hint: 'It was accepted and is not in doubt. Wait longer with --wait-timeout.',
  });
