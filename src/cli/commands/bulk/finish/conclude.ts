import type { NextStep } from '../../../config/printed-command.js';
import type { Context } from '../../../context.js';
import { Ended } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { inOne } from '../next-command.js';
import type { Verdict } from '../verdict.js';

/** Prints what happened to a job, and what remains to be done. */
export function conclude(
  { io }: Pick<Context, 'io'>,
  { exit, sentence }: Verdict,
  [first, ...more]: readonly NextStep[],
): void {
  if (exit === exits.ok) io.note(...inOne(sentence, first));
  else io.conclude(sentence, first);
  for (const step of more) io.note(...step);
}

/** Tells programs what a verdict says besides its exit code. */
export function attachVerdict({ io }: Pick<Context, 'io'>, { code, cause, retryable }: Verdict): void {
  const said = Object.entries({ code, cause, retryable }).filter(([, value]) => value !== null);
  io.attach(Object.fromEntries(said));
}

/** Throws Ended unless the exit code is 0. */
export function endWith(context: Pick<Context, 'io'>, verdict: Verdict): void {
  attachVerdict(context, verdict);
  if (verdict.exit !== exits.ok) throw new Ended(verdict.exit);
}
