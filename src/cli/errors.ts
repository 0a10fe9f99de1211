import { type ExitCode, exits } from './exit-codes.js';

/** An error of this machine or of the person's input: one line what, one line what to do about it. */
export class CliError extends Error {
  /** Machine-readable, in the style of the service's codes. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;
  /** Further fields of the JSON form. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    exit: ExitCode,
    message: string,
    extra: { hint?: string; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.name = 'CliError';
    this.code = code;
    this.exit = exit;
    this.hint = extra.hint;
    this.details = extra.details ?? {};
  }
}

export const usageError = (message: string, hint?: string): CliError =>
  new CliError('usage', exits.usage, message, hint === undefined ? {} : { hint });

export const inputError = (message: string, hint?: string): CliError =>
  new CliError('invalid_input', exits.input, message, hint === undefined ? {} : { hint });

const diskHints: Readonly<Record<string, string>> = {
  ENOSPC: 'Make room on the disk.',
  EDQUOT: 'Make room: your share of the disk is used up.',
  EROFS: 'The disk is read-only. Choose another folder with XDG_CONFIG_HOME or XDG_STATE_HOME.',
  EACCES: 'The file and its folder have to be yours.',
  EPERM: 'The file and its folder have to be yours.',
  ENOTDIR: 'A file stands where a folder has to be.',
};

/** A file or folder that this machine does not give us; the hint follows from the cause where none is given. */
export function machineError(message: string, cause: unknown, hint?: string): CliError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const what = hint ?? diskHints[code ?? ''];
  return new CliError('machine', exits.machine, message, {
    ...(what === undefined ? {} : { hint: what }),
    details: code === undefined ? {} : { errno: code },
    cause,
  });
}

/** The person pressed Ctrl-C in a question. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A command that printed its result and ends with another code than 0. */
export class Ended extends Error {
  override readonly name = 'Ended';
  constructor(readonly exit: ExitCode) {
    super(`ended with exit code ${exit}`);
  }
}
