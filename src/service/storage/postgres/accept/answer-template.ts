import { randomInt } from 'node:crypto';
import type { BoundAnswer, Instant } from '../../records.js';

/** An answer whose time and balance the database fills in. */
export interface AnswerTemplate {
  status: number;
  head: string;
  /** What follows the time; null for an answer without a time. */
  tail: string | null;
  /** Whether the balance follows and ends the body. */
  has_balance: boolean;
}

/** A time and a balance that no message has, so that they can be found in the body and replaced. */
const time: Instant = Date.UTC(6_000) + randomInt(2 ** 46);
const writtenTime = new Date(time).toISOString();
const balance = 9_000_000_000_000_000 - randomInt(2 ** 40);
const ending = `${balance}}`;

export function answerTemplate(answer: (time: Instant, balance: number) => BoundAnswer): AnswerTemplate {
  const { status, body } = answer(time, balance);
  const hasBalance = body.endsWith(ending);
  const rest = hasBalance ? body.slice(0, -ending.length) : body;
  const [head = '', ...tail] = rest.split(writtenTime);
  return { status, head, tail: tail.length === 0 ? null : tail.join(writtenTime), has_balance: hasBalance };
}
