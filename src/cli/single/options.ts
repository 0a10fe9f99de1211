import { type Command, InvalidArgumentError } from 'commander';
import type { SendOptions } from '../../client/index.js';
import { isIdempotencyKey } from '../../contract/index.js';
import { addWaitOptions, type WaitOptions } from '../lookup/wait.js';

export interface SingleSendOptions extends WaitOptions {
  idempotencyKey?: string;
  dryRun?: boolean;
  /** For the history; `sms send` or `email send` without it. */
  command?: string;
}

/** Adds the options of every single send. */
export function addSendOptions(command: Command): void {
  command
    .option('--idempotency-key <key>', 'repeat a send safely: the same key never sends twice', readKey)
    .option('--dry-run', 'show size and price without sending');
  addWaitOptions(command, 'it is sent or failed');
}

export const sendOptionsOf = ({ idempotencyKey }: SingleSendOptions): SendOptions =>
  idempotencyKey === undefined ? {} : { idempotencyKey };

/** Throws commander's InvalidArgumentError. */
export function readKey(written: string): string {
  if (isIdempotencyKey(written) && written.trim() === written) return written;
  throw new InvalidArgumentError('use 1 to 255 printable ASCII characters, without a space at either end');
}
