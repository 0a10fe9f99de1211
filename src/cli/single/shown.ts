import { CliError, machineError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Printer } from '../output/printer.js';

/** Printed if the result could not be. */
export interface Hidden {
  /** What happened, with a warning not to repeat it. */
  message: string;
  /** The command that shows it. */
  command: string;
  /** The words before the command, if it is for something else. */
  before?: string;
  details: Record<string, unknown>;
  /** Whether nobody has it if the reader is gone. */
  isOnlyCopy?: boolean;
}

type Output = Pick<Printer, 'failure'>;

/** The error of standard output, with what happened nevertheless; null if it was written, or its reader is gone. */
export function unwritten({ failure }: Output, hidden?: Hidden): CliError | null {
  if (failure === null || (failure.code === 'EPIPE' && !hidden?.isOnlyCopy)) return null;
  const { code: errno = failure.message } = failure;
  const message = `standard output could not be written: ${errno}`;
  if (hidden === undefined) return machineError(message, failure);
  return new CliError('machine', exits.machine, message, {
    hint: `${hidden.message} ${hidden.before ?? 'See:'} \`${hidden.command}\``,
    details: { ...hidden.details, errno },
    cause: failure,
  });
}

/** Throws CliError if standard output failed: without the result, its reader might send again. */
export function ensureShown(output: Output, hidden?: Hidden): void {
  const error = unwritten(output, hidden);
  if (error !== null) throw error;
}

/** For a send that the service has accepted. */
export function acceptedAs(what: 'message' | 'batch', id: string, key: string | null): Hidden {
  return {
    message: `The ${what} was accepted as ${id}; do not send it again.${keyText(key)}`,
    command: `urtuu ${what === 'batch' ? 'batches' : 'messages'} get ${id}`,
    details: { id, idempotency_key: key },
  };
}

export const keyText = (key: string | null) => (key === null ? '' : ` Its idempotency key: ${key}.`);

export const codeSentAs = (id: string): Hidden => ({
  message: `The code was sent as ${id}; do not send it again.`,
  command: `urtuu verify get ${id}`,
  details: { id },
});

/** For a key whose secret is printed only once; `command` revokes it. */
export const keyCreatedAs = (id: string, command: string): Hidden => ({
  message: `The key ${id} was created, but could not be shown.`,
  before: 'Create another one, and revoke this with:',
  command,
  details: { id },
  isOnlyCopy: true,
});

export const profileSavedAs = (profile: string): Hidden => ({
  message: `The profile ${profile} was saved.`,
  command: `urtuu profiles show ${profile}`,
  details: { profile },
});
