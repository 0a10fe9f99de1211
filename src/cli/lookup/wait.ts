import type { Command } from 'commander';
import type { Context } from '../context.js';
import { CliError, usageError } from '../errors.js';
import { exitOfFailure, exits } from '../exit-codes.js';
import { readDuration } from '../input/duration.js';
import { counted } from '../text/wording.js';
import { Deadline } from '../time/deadline.js';

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
    .option('--wait-timeout <duration>', 'limit of --wait (default 10m)', readDuration)
    .hook('preAction', (_, called) => {
      const { wait, waitTimeout } = called.opts<WaitOptions>();
      if (waitTimeout !== undefined && wait !== true)
        throw usageError('--wait-timeout needs --wait', 'Add --wait.');
    });
}

export const deadlineOf = (
  { clock }: Pick<Context, 'clock'>,
  { waitTimeout = defaultTimeout }: WaitOptions,
): Deadline => new Deadline(clock, waitTimeout);

/** The latest state, and the error that ended the wait. */
export interface WaitResult<State> {
  state: State;
  problem: { error: unknown } | null;
}

/**
 * Polls at growing intervals until the state is final or the deadline has passed. A temporary failure is retried
 * within the deadline; a longer Retry-After ends the wait.
 */
export async function readUntilFinal<State, First extends State | null>(
  { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  deadline: Deadline,
  first: First,
  isFinal: (state: State) => boolean,
  read: () => Promise<State>,
): Promise<WaitResult<State | First>> {
  let state: State | First = first;
  let rest = first === null ? 0 : firstPause;
  for (let pause = firstPause; state === null || !isFinal(state); pause = Math.min(pause * 2, longestPause)) {
    if (deadline.left <= 0) break;
    try {
      if (rest > 0) await clock.sleep(Math.min(rest, deadline.left), signal);
      const next = await deadline.orNull(read);
      if (next === null) break;
      state = next;
      rest = Math.min(pause * 2, longestPause);
    } catch (error) {
      if (!isTransient(error)) return { state, problem: { error } };
      rest = Math.max(pause, 1_000 * ((error as { retryAfter?: number | null }).retryAfter ?? 0));
      if (rest > deadline.left) break;
    }
  }
  return { state, problem: null };
}

export const isFinalMessage = ({ status }: { status: string }): boolean =>
  status === 'sent' || status === 'failed';

/** Whether a read failed temporarily. */
export function isTransient(error: unknown): boolean {
  const { code, status } = error as { code?: unknown; status?: number | null };
  if (typeof code !== 'string' || status === undefined) return false;
  return exitOfFailure({ code, status }, 'reading') === exits.later;
}

/** The error for an item that may not even exist. */
export const neverRead = (what: string): CliError =>
  new CliError('not_final', exits.notFinal, `${what} could not be read in time`, {
    hint: 'Its status is unknown. Wait longer with --wait-timeout.',
  });

/** The error of `--wait` for messages that were sent, but may not have arrived. */
export function unknownError(count = 1, details: Record<string, unknown> = {}): CliError {
  const what = count === 1 ? 'the message is' : `${counted(count, 'message')} are`;
  return new CliError('unknown', exits.partly, `${what} sent, and may not have arrived`, {
    hint: 'The operator never answered. A receipt may still arrive. Sending again may send it twice.',
    details: { unknown: count, ...details },
  });
}

/** `what` names the `count` items. */
export function notFinal(what: string, count = 1): CliError {
  const [are, theyAre] =
    count === 1 ? ['is', 'It was accepted and is'] : ['are', 'They were accepted and are'];
  return new CliError('not_final', exits.notFinal, `${what} ${are} not final yet`, {
    hint: `${theyAre} not in doubt. Wait longer with --wait-timeout.`,
  });
}
