import { fstatSync, statSync } from 'node:fs';
import { platformOf } from './platform.js';

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const satisfies Record<EndSignal, number>;

type SignalSource = Pick<NodeJS.Process, 'on' | 'off'>;

/**
 * Calls `listener` for each of the signals; the returned function stops this. Without a terminal SIGHUP ends nothing,
 * because Node.js cannot see that nohup ignores it: `onHangUp` is called.
 */
export function watchSignals(
  process: SignalSource,
  hasTerminal: boolean,
  listener: (signal: EndSignal) => void,
  onHangUp: () => void,
): () => void {
  const handlers: Record<EndSignal, () => void> = {
    SIGINT: () => listener('SIGINT'),
    SIGTERM: () => listener('SIGTERM'),
    SIGHUP: hasTerminal ? () => listener('SIGHUP') : onHangUp,
  };
  const signals = Object.entries(handlers);
  for (const [signal, react] of signals) process.on(signal, react);
  return () => {
    for (const [signal, react] of signals) process.off(signal, react);
  };
}

type EndingProcess = Pick<NodeJS.Process, 'pid' | 'kill' | 'exit' | 'removeAllListeners' | 'platform'>;

/** Ends the process by a signal, or if parents cannot see that, with the exit code that a shell would show. */
export function endBySignal(process: EndingProcess, signal: EndSignal): void {
  // The kernel does not deliver unhandled signals to the first process of a container.
  const isFirst = process.pid === 1;
  if (isFirst || !platformOf(process.platform).diesBySignals) process.exit(128 + numbers[signal]);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/**
 * Whether standard input, output or error is a terminal. `isTerminal` loads a lot, so it is only called for devices.
 */
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
