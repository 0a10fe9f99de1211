import { type ExitCode, exits } from './exit-codes.js';

/** An error of this machine or the input: a message and a hint, one line each. */
export class CliError extends Error {
  /** For programs, in the style of the service's codes. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;
  /** Additional fields of the JSON form. */
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

export const refusedError = (
  code: string,
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): CliError => new CliError(code, exits.refused, message, { hint, details });

/** `way`: how to send after all. */
export const refusedSend = (
  code: string,
  message: string,
  way: string,
  details?: Record<string, unknown>,
): CliError => refusedError(code, message, `Nothing was sent this time. ${way}`, details);

const diskHints: Readonly<Record<string, string>> = {
  ENOSPC: 'Make room on the disk.',
  EDQUOT: 'Make room: the disk quota is used up.',
  EROFS: 'The disk is read-only. Choose another folder with XDG_CONFIG_HOME or XDG_STATE_HOME.',
  EACCES: 'You must own the file and its folder.',
  EPERM: 'You must own the file and its folder.',
  ENOTDIR: 'Part of the path is a file, not a folder.',
};

/** The operating system refuses a file or folder. Without a hint, one is derived from the cause, or tells it. */
export function machineError(message: string, cause: unknown, hint?: string): CliError {
  const { code, message: reason } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  const what = hint ?? diskHints[code ?? ''] ?? reason;
  return new CliError('machine', exits.machine, message, {
    ...(what === undefined ? {} : { hint: what }),
    details: code === undefined ? {} : { errno: code },
    cause,
  });
}

const unusable: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR'];

/** The hint if the state folder cannot be used at all; undefined for other causes. */
export function stateHint(error: unknown): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  return unusable.includes(code) ? 'Set XDG_STATE_HOME to a folder of your own.' : undefined;
}

/** The person pressed Ctrl-C in a prompt. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Thrown by a command that has printed its result, to end with an exit code. */
export class Ended extends Error {
  override readonly name = 'Ended';
  constructor(readonly exit: ExitCode) {
    super(`ended with exit code ${exit}`);
  }
}
