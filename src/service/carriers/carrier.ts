import type { Channel } from '../../contract/index.js';

/** The route that carries no links, which also takes what an operator refused. */
export const noLinkRoute = 'no-link';
export const emailRoute = 'email';

/** A message as a carrier gets it. */
export interface Submission {
  /** The message's id, under which the carrier remembers it. */
  reference: string;
  /** 1 for the first hand-over; each later one has a higher number. */
  attempt: number;
  channel: Channel;
  /** The operator's network or the kind of mail that is to carry it. */
  route: string;
  to: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  replyTo: string | null;
}

export type SubmitAnswer = { kind: 'accepted' } | { kind: 'refused'; reason: string };

/**
 * - `taken`: it was accepted, and is or will be delivered.
 * - `not_taken`: it was not, and no submission of the past can still be.
 * - `unknown`: the carrier cannot say now.
 */
export type Fate = 'taken' | 'not_taken' | 'unknown';

/** Thrown by a carrier that expects it: nobody knows whether the message was taken. Any other error is a fault. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** An attempt above every attempt: once asked about it, a carrier never takes the message. */
export const everyAttempt = 2 ** 31;

/** Who delivers messages: mobile operators and mail. */
export interface Carrier {
  /**
   * Hands a message over. When it throws, nobody knows whether the message was taken. It never takes an attempt
   * below one that `inquire` was asked about: a process that stood still in between may come back with it.
   */
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** What became of the attempts below `before` to hand a message over. */
  inquire(reference: string, to: string, before: number): Promise<Fate>;
}
