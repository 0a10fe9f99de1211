import type { MessageFigures } from './journal/entries.js';

/** The recipients of an accepted request by outcome; all others are queued. */
export interface Finals {
  /** Without the unknown ones. */
  sent: number;
  unknown: number;
  failed: number;
  /** Whose status is unknown, and will stay so. */
  unsure: number;
}

export const noFinals: Finals = { sent: 0, unknown: 0, failed: 0, unsure: 0 };

/**
 * The figures of so many recipients with one message each; those in no figure are queued. If final figures add up to
 * fewer or more messages, the difference is unsure.
 */
export function finalsOf(recipients: number, figures: MessageFigures, isFinal: boolean): Finals {
  const unsure = isFinal ? Math.min(recipients, Math.abs(recipients - figures.sent - figures.failed)) : 0;
  const failed = Math.min(figures.failed, recipients - unsure);
  const sent = Math.min(figures.sent, recipients - unsure - failed);
  const unknown = Math.min(sent, figures.unknown ?? 0);
  return { sent: sent - unknown, unknown, failed, unsure };
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
  const { sent, unknown, failed, unsure } = finals;
  const rest = { failed: less(failed), queued: less(recipients - sent - unknown - failed - unsure) };
  return { failed: rest.failed, unsure: less(unsure), unknown: less(unknown), sent: less(sent) };
}
