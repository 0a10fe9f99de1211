import type { Command } from 'commander';
import type { Context } from '../context.js';
import { CliError, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { readDuration } from '../input/duration.js';
import { Reader, type ReaderOptions } from '../reader/reader.js';
import { counted } from '../text/wording.js';

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

/** Reads as long as `--wait` may take, with one limit for all ids. The client takes the tokens. */
export function waitingReader(
  { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  { waitTimeout = defaultTimeout }: WaitOptions,
): Reader {
  const end = clock.elapsed() + waitTimeout;
  return lookupReader({ clock, signal }, { timeout: () => end - clock.elapsed() });
}

/** A reader that never gives up before its time is over. */
export const lookupReader = (
  { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  options: Pick<ReaderOptions, 'timeout' | 'onFault'>,
): Reader =>
  new Reader({
    ...options,
    rateLimiter: null,
    now: () => clock.elapsed(),
    sleep: (milliseconds, stop) => clock.sleep(milliseconds, stop).catch(() => {}),
    after: (milliseconds, run) => clock.after(milliseconds, run),
    mostTries: Number.POSITIVE_INFINITY,
    stop: signal,
  });

/** The latest state, and the error that ended the wait. */
export interface WaitResult<State> {
  state: State;
  problem: { error: unknown } | null;
}

/** Polls at growing intervals until the state is final, the time is over, or a read fails for good. */
export async function readUntilFinal<State, First extends State | null>(
  reader: Reader,
  first: First,
  isFinal: (state: State) => boolean,
  read: () => Promise<State>,
): Promise<WaitResult<State | First>> {
  let state: State | First = first;
  for (let pause = firstPause; state === null || !isFinal(state); pause = Math.min(pause * 2, longestPause)) {
    if (state !== null) await reader.pause(pause);
    const reply = await reader.read(read).catch((error: unknown) => ({ error }));
    if (!('value' in reply)) return { state, problem: reply.error === null ? null : { error: reply.error } };
    state = reply.value;
  }
  return { state, problem: null };
}

export const isFinalMessage = ({ status }: { status: string }): boolean =>
  status === 'sent' || status === 'failed';

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
