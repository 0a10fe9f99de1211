import { fstatSync, statSync } from 'node:fs';
import { platformOf } from './platform.js';

/** The signals that ask a process to end. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const satisfies Record<EndSignal, number>;

type Listening = Pick<NodeJS.Process, 'on' | 'off'>;

/**
 * Calls `listener` at each signal that asks the process to end; gives the way to stop that. A hang-up counts only
 * with a terminal: Node.js cannot see that nohup ignores it.
 */
export function watchSignals(
  process: Listening,
  hasTerminal: boolean,
  listener: (signal: EndSignal) => void,
): () => void {
  const ended: Record<EndSignal, () => void> = {
    SIGINT: () => listener('SIGINT'),
    SIGTERM: () => listener('SIGTERM'),
    SIGHUP: hasTerminal ? () => listener('SIGHUP') : () => {},
  };
  const signals = Object.entries(ended);
  for (const [signal, react] of signals) process.on(signal, react);
  return () => {
    for (const [signal, react] of signals) process.off(signal, react);
  };
}

type Ending = Pick<NodeJS.Process, 'pid' | 'kill' | 'exit' | 'removeAllListeners' | 'platform'>;

/** Ends the process by a signal; where parents do not see that, with the code that a shell would show. */
export function endBySignal(process: Ending, signal: EndSignal): void {
  if (!platformOf(process.platform).diesBySignals) process.exit(128 + numbers[signal]);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Whether standard input, output or error is a terminal. To ask loads much, so that only a device is asked. */
export function hasTerminal(platform: NodeJS.Platform, isTerminal: (descriptor: number) => boolean): boolean {
  return [0, 1, 2].some((each) => mayBeTerminal(each, platform) && isTerminal(each));
}

function mayBeTerminal(descriptor: number, platform: NodeJS.Platform): boolean {
  if (!platformOf(platform).hasFileModes) return true;
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}
