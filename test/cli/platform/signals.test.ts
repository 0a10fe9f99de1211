import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type EndSignal, endBySignal, hasTerminal, watchSignals } from '../../../src/cli/platform/signals.js';

describe('the signals that end a process', () => {
  const watched = (terminal: boolean) => {
    const process = new EventEmitter();
    const seen: EndSignal[] = [];
    let hangUps = 0;
    const onHangUp = () => {
      hangUps += 1;
    };
    const stop = watchSignals(process as never, terminal, (signal) => seen.push(signal), onHangUp);
    return { process, seen, stop, hangUps: () => hangUps };
  };

  it.each([
    [true, ['SIGINT', 'SIGTERM', 'SIGHUP']],
    [false, ['SIGINT', 'SIGTERM']],
  ])('with a terminal (%s) are %j; a hang-up never falls through to the system', (terminal, heard) => {
    const { process, seen, stop, hangUps } = watched(terminal);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) expect(process.emit(signal)).toBe(true);
    expect(seen).toEqual(heard);
    expect(hangUps()).toBe(terminal ? 0 : 1);
    stop();
    expect(process.eventNames()).toEqual([]);
  });
});

describe('a process that ends by a signal', () => {
  class Exited extends Error {}
  const ended = (platform: NodeJS.Platform, signal: EndSignal, pid = 7) => {
    const said: unknown[] = [];
    const process = {
      pid,
      platform,
      kill: (...args: unknown[]) => said.push('kill', ...args),
      exit(code: number) {
        said.push('exit', code);
        throw new Exited();
      },
      removeAllListeners: (name: string) => said.push('unheard', name),
    };
    try {
      endBySignal(process as never, signal);
    } catch (error) {
      if (!(error instanceof Exited)) throw error;
    }
    return said;
  };

  it.each(['linux', 'darwin'] as const)('kills itself with it on %s', (platform) => {
    expect(ended(platform, 'SIGHUP')).toEqual(['unheard', 'SIGHUP', 'kill', 7, 'SIGHUP']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('exits on Windows, where no parent would see %s, with %i', (signal, code) => {
    expect(ended('win32', signal)).toEqual(['exit', code]);
  });

  it('exits where it is the first process of a container, which no signal of its own ends', () => {
    expect(ended('linux', 'SIGTERM', 1)).toEqual(['exit', 143]);
  });
});

describe('a terminal', () => {
  it.runIf(process.platform === 'linux')('is looked for only where a descriptor is a device', () => {
    const asked: number[] = [];
    // Under the test runner none of the three is one.
    expect(
      hasTerminal('linux', (descriptor) => {
        asked.push(descriptor);
        return true;
      }),
    ).toBe(asked.length > 0);
    expect(hasTerminal('win32', (descriptor) => descriptor === 2)).toBe(true);
    expect(hasTerminal('win32', () => false)).toBe(false);
  });
});
