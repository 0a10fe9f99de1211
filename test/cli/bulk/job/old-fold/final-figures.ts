import type { MessageFigures } from '../../../../../src/cli/bulk/job/journal/entries.js';

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
  const haveSent = countOf(figures.sent);
  const haveFailed = countOf(figures.failed);
  const unsure = isFinal ? Math.min(recipients, Math.abs(recipients - haveSent - haveFailed)) : 0;
  const failed = Math.min(haveFailed, recipients - unsure);
  const sent = Math.min(haveSent, recipients - unsure - failed);
  const unknown = Math.min(sent, countOf(figures.unknown ?? 0));
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

/** A value in a service's answer that is not a count is 0. */
const countOf = (figure: number) => (Number.isSafeInteger(figure) && figure > 0 ? figure : 0);

const figureNames = ['sent', 'unknown', 'failed', 'unsure'] as const;

/** What is known of an accepted request: some figures, the final ones, or also how many of them are unknown. */
const knowledges = ['some', 'final', 'everything'] as const;
type Knowledge = (typeof knowledges)[number];

/** The figures of accepted requests, as far as known: 9 bytes a request. */
export class FinalFigures {
  readonly #figures: Record<keyof Finals, Uint16Array>;
  readonly #knowledge: Uint8Array;

  constructor(requests: number) {
    const figures = () => new Uint16Array(requests);
    this.#figures = { sent: figures(), unknown: figures(), failed: figures(), unsure: figures() };
    this.#knowledge = new Uint8Array(requests);
  }

  knowledge(request: number): Knowledge {
    return knowledges[this.#knowledge[request] ?? 0] ?? 'some';
  }

  of(request: number): Finals {
    const figure = (name: keyof Finals) => this.#figures[name][request] ?? 0;
    return {
      sent: figure('sent'),
      unknown: figure('unknown'),
      failed: figure('failed'),
      unsure: figure('unsure'),
    };
  }

  /** Returns the change in the figures of all requests. */
  set(request: number, now: Finals, knowledge: Knowledge): Finals {
    const before = this.of(request);
    const change = { ...noFinals };
    for (const name of figureNames) {
      change[name] = now[name] - before[name];
      this.#figures[name][request] = now[name];
    }
    this.#knowledge[request] = knowledges.indexOf(knowledge);
    return change;
  }
}
