import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../../../clock.js';
import { ServiceError } from '../../../errors/service-error.js';

/** Milliseconds that reads and writes wait for other processes; a client's attempt lasts 30 s. */
export const busyPatience = 10_000;

/** SQLite's primary result codes. */
const resultCodes = { busy: 5, locked: 6, corrupt: 11, notADatabase: 26 };

/** Whether SQLite refused because another process has a lock. Connections themselves never wait for locks. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === resultCodes.busy || code === resultCodes.locked;
}

/** Whether a file is not a database, or is damaged. */
export function isDamaged(error: unknown): boolean {
  const code = codeOf(error);
  return code === resultCodes.corrupt || code === resultCodes.notADatabase;
}

/** SQLite's texts for these codes: `exec` of Deno has no code. */
const texts: Readonly<Record<string, number>> = {
  'database is locked': resultCodes.busy,
  'database table is locked': resultCodes.locked,
  'database disk image is malformed': resultCodes.corrupt,
  'file is not a database': resultCodes.notADatabase,
};

function codeOf(error: unknown): number | undefined {
  const { errcode, message } = error as { errcode?: number; message: string };
  return errcode === undefined ? texts[message] : errcode & 0xff;
}

/** The error if the data remains locked for too long. */
export function lockedTooLong(): ServiceError {
  return new ServiceError('unavailable', 'another process has locked the data; nothing was done', {
    retryAfter: 1,
  });
}

/** Milliseconds until the next attempt; random, so that processes do not collide again. */
export function nextTry(tries: number): number {
  return Math.min(2 ** tries, 10) * (0.5 + Math.random());
}

/** Does work that needs a lock of SQLite as soon as it is free, without blocking the process meanwhile. */
export async function whenFree<Result>(work: () => Result, patience = busyPatience): Promise<Result> {
  const end = monotonic() + patience;
  for (let tries = 0; ; tries += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (monotonic() >= end) throw lockedTooLong();
      await pause(nextTry(tries));
    }
  }
}
