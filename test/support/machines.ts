import { mkdirSync } from 'node:fs';
import { afterAll, afterEach } from 'vitest';
import { Machine } from './binary.js';

/** A machine that each test of the file finds empty. */
export function emptyMachine(): Machine {
  const machine = new Machine();
  afterEach(() => {
    machine.remove();
    mkdirSync(machine.home, { mode: 0o700 });
  });
  afterAll(() => machine.remove());
  return machine;
}
