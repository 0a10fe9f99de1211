import { type ExitCode, exits } from '../exit-codes.js';

/** What those who call sendmail understand (sysexits.h); 75 alone tells them to try again later. */
export const sysexits = {
  usage: 64,
  data: 65,
  unavailable: 69,
  software: 70,
  input: 74,
  later: 75,
  permission: 77,
} as const;
export type Sysexit = (typeof sysexits)[keyof typeof sysexits];

const table = {
  [exits.ok]: exits.ok,
  [exits.fault]: sysexits.software,
  [exits.usage]: sysexits.usage,
  [exits.partly]: sysexits.unavailable,
  [exits.key]: sysexits.permission,
  [exits.later]: sysexits.later,
  // A message in doubt may have been sent. Only one with a Message-ID can be tried again without harm.
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

/** The codes of `urtuu sendmail`. */
export const sysexitTranslation = {
  of: (exit: ExitCode, key: unknown): Sysexit | 0 =>
    exit === exits.doubt && isOfMessage(key) ? sysexits.later : table[exit],
  /** What to do about a message in doubt, for whoever calls sendmail. */
  hint: (exit: ExitCode, key: unknown): string | undefined => {
    if (exit !== exits.doubt) return undefined;
    return isOfMessage(key)
      ? 'It may have been sent. Give the same message again: that cannot send it twice.'
      : 'It may have been sent, and has no Message-ID to make a repeat safe. Look before you give it again.';
  },
  meanings: {
    0: 'accepted',
    [sysexits.usage]: 'usage, or no recipient',
    [sysexits.data]: 'a message that cannot be sent',
    [sysexits.unavailable]: 'not sent, or in doubt where a repeat could send it twice',
    [sysexits.software]: 'a fault of the program',
    [sysexits.input]: 'this machine: unreadable input, unsafe configuration',
    [sysexits.later]: 'not now: trying again may help, and cannot send it twice',
    [sysexits.permission]: 'key: missing, or the service does not know it',
  },
};

/** The idempotency key of a message that names itself: it comes out the same when the message is sent again. */
export const keyOfMessage = (digest: string): string => `sendmail-${digest}`;
const isOfMessage = (key: unknown) => typeof key === 'string' && key.startsWith(keyOfMessage(''));
