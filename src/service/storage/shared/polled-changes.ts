import type { Clock } from '../../clock.js';
import type { Changes, Topic } from '../changes.js';

/** Milliseconds between wake-ups for changes by other processes; the dispatcher itself looks for what is due. */
const pollEvery = 100;

export interface PolledChanges extends Changes {
  /** Reports that something was committed here. */
  tell(topic: Topic): void;
  tellAll(): void;
  close(): void;
}

/** An emitter for this process, and a poll for the others. */
export function createPolledChanges(clock: Clock): PolledChanges {
  const waiting = new Map<Topic, Set<() => void>>();
  let polled = 0;
  let cancelPoll = () => {};

  const isPolled = (topic: Topic) => topic !== 'due';

  function tell(topic: Topic): void {
    for (const wake of [...(waiting.get(topic) ?? [])]) wake();
  }

  function poll(): void {
    cancelPoll = clock.after(pollEvery, () => {
      poll();
      for (const topic of [...waiting.keys()].filter(isPolled)) tell(topic);
    });
  }

  return {
    subscribe(topic, wake) {
      const wakes = waiting.get(topic) ?? new Set();
      waiting.set(topic, wakes);
      wakes.add(wake);
      if (isPolled(topic)) {
        polled += 1;
        if (polled === 1) poll();
      }
      return () => {
        if (!wakes.delete(wake)) return;
        if (wakes.size === 0 && waiting.get(topic) === wakes) waiting.delete(topic);
        if (!isPolled(topic)) return;
        polled -= 1;
        if (polled === 0) cancelPoll();
      };
    },
    tell,
    tellAll() {
      for (const topic of [...waiting.keys()]) tell(topic);
    },
    close() {
      cancelPoll();
      waiting.clear();
    },
  };
}
