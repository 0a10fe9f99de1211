import { type ExitCode, exits } from '../exit-codes.js';

/** The exit codes that callers of sendmail understand (sysexits.h); only after 75 do they try again later. */
export const sysexits = {
  usage: 64,
  data: 65,
  nobody: 67,
  unavailable: 69,
  software: 70,
  input: 74,
  later: 75,
  permission: 77,
} as const;
export type Sysexit = (typeof sysexits)[keyof typeof sysexits];

const table = {
  [exits.ok]: exits.ok,
  [exits.internal]: sysexits.software,
  [exits.usage]: sysexits.usage,
  [exits.partly]: sysexits.unavailable,
  [exits.key]: sysexits.permission,
  [exits.later]: sysexits.later,
  // It may have been sent. Only a message with a Message-ID can be submitted again safely.
  [exits.doubt]: sysexits.unavailable,
  [exits.money]: sysexits.later,
  [exits.input]: sysexits.data,
  [exits.notSent]: sysexits.unavailable,
  [exits.wrongCode]: sysexits.software,
  [exits.refused]: sysexits.software,
  [exits.missing]: sysexits.unavailable,
  [exits.machine]: sysexits.input,
  [exits.notFinal]: sysexits.unavailable,
} as const satisfies Record<ExitCode, Sysexit | 0>;

/** The exit codes of `urtuu sendmail`. */
export const sysexitTranslation = {
  of: (exit: ExitCode, key: unknown): Sysexit | 0 =>
    exit === exits.doubt && isOfMessage(key) ? sysexits.later : table[exit],
  hint: (exit: ExitCode, key: unknown): string | undefined => {
    if (exit !== exits.doubt) return undefined;
    return isOfMessage(key)
      ? 'It may have been sent. Submit the same message again, which cannot send it twice.'
      : 'It may have been sent, and has no Message-ID to make a repeat safe. Check before you submit it again.';
  },
  meanings: {
    0: 'accepted for every recipient; a later failure is in the dashboard',
    [sysexits.usage]: 'usage, or no recipient',
    [sysexits.data]: 'a message that cannot be sent',
    [sysexits.unavailable]: 'in doubt or not sent to all: the error says if a repeat is safe',
    [sysexits.software]: 'internal error',
    [sysexits.input]: 'this machine: unreadable input, unsafe configuration',
    [sysexits.later]: 'later: a repeat cannot send it twice',
    [sysexits.permission]: 'key: missing, unknown to the service, or outside its scope',
  },
};

/**
 * The exit codes of `urtuu service incoming`. A mail server keeps the mail after 75 and returns it after any other
 * code, so only problems of the mail itself have another one.
 */
export const incomingSysexits = {
  of: (exit: ExitCode): Sysexit | 0 =>
    exit === exits.ok
      ? exits.ok
      : exit === exits.input
        ? sysexits.data
        : exit === exits.missing
          ? sysexits.nobody
          : sysexits.later,
  hint: (exit: ExitCode) =>
    exit === exits.missing
      ? 'A project receives the mail to its own domain. See: `urtuu service settings get`'
      : undefined,
  meanings: {
    0: 'accepted',
    [sysexits.data]: 'not an email message, or too large',
    [sysexits.nobody]: 'no recipient is known',
    [sysexits.later]: 'later: the data is unavailable, or the command line is invalid',
  },
};

/** The same key each time the message is submitted. */
export const keyOfMessage = (digest: string): string => `sendmail-${digest}`;
const isOfMessage = (key: unknown) => typeof key === 'string' && key.startsWith(keyOfMessage(''));
