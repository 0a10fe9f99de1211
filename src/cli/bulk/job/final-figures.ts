import { suppressedCode } from '../plan/reported-rows.js';
import type { EntryOf, MessageFigures } from './journal/entries.js';

/** The recipients of an accepted request by outcome; all others are queued. */
export interface Finals {
  /** Without the unknown ones. */
  sent: number;
  unknown: number;
  /** Without the suppressed ones. */
  failed: number;
  suppressed: number;
  /** Whose status is unknown, and will stay so. */
  unsure: number;
}

export const noFinals: Finals = { sent: 0, unknown: 0, failed: 0, suppressed: 0, unsure: 0 };

/** A single message's code says why it failed. */
export const figuresOf = (entry: EntryOf<'final'>): MessageFigures =>
  entry.code === suppressedCode ? { ...entry, suppressed: entry.failed } : entry;

/**
 * The figures of so many recipients with one message each; those in no figure are queued. If final figures add up to
 * fewer or more messages, the difference is unsure.
 */
export function finalsOf(recipients: number, figures: MessageFigures, isFinal: boolean): Finals {
  const unsure = isFinal ? Math.min(recipients, Math.abs(recipients - figures.sent - figures.failed)) : 0;
  const failed = Math.min(figures.failed, recipients - unsure);
  const sent = Math.min(figures.sent, recipients - unsure - failed);
  const unknown = Math.min(sent, figures.unknown ?? 0);
  const suppressed = Math.min(failed, figures.suppressed ?? 0);
  return { sent: sent - unknown, unknown, failed: failed - suppressed, suppressed, unsure };
}

/**
 * The figures without so many recipients that another job took, since their messages failed; `recipients` includes
 * them.
 */
export function finalsWithout(taken: number, recipients: number, finals: Finals): Finals {
  let left = taken;
  const less = (figure: number) => {
    const rest = Math.max(0, figure - left);
    left -= figure - rest;
    return rest;
  };
  const { sent, unknown, failed, suppressed, unsure } = finals;
  // An earlier release took suppressed ones, too.
  const unsent = { failed: less(failed), suppressed: less(suppressed) };
  less(recipients - sent - unknown - failed - suppressed - unsure);
  return { ...unsent, unsure: less(unsure), unknown: less(unknown), sent: less(sent) };
}
