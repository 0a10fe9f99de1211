import type { Channel } from '../../contract/index.js';

/** The route that carries no links, which also takes what an operator refused. */
export const noLinkRoute = 'no-link';

/** A message as a carrier gets it. */
export interface Submission {
  /** The message's id, under which the carrier remembers it. */
  reference: string;
  channel: Channel;
  /** The operator's network or the kind of mail that is to carry it. */
  route: string;
  to: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  replyTo: string | null;
  /** Milliseconds since 1970: later than this it must not be taken, for another may be at it by then. */
  notAfter: number;
}

export type SubmitAnswer = { kind: 'accepted' } | { kind: 'refused'; reason: string };

/**
 * - `taken`: it was accepted, and is or will be delivered.
 * - `not_taken`: it was not, and no submission of the past can still be.
 * - `unknown`: the carrier cannot say now.
 */
export type Fate = 'taken' | 'not_taken' | 'unknown';

/** Who delivers messages: mobile operators and mail. */
export interface Carrier {
  /** Hands a message over. When it throws, nobody knows whether the message was taken. */
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** What became of a message that was, or may have been, handed over. */
  inquire(reference: string, to: string): Promise<Fate>;
}
