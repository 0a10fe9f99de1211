import { UrtuuError } from '../../../../client/index.js';
import type { EmailResult, SmsResult } from '../../../../contract/index.js';
import { proofKey } from '../../../bulk/job/keys.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { NextStep, PrintedCommand } from '../../../config/printed-command.js';
import type { Context } from '../../../context.js';
import { CliError, Ended, Interrupted, refusedError } from '../../../errors.js';
import { exitOfFailure, exits } from '../../../exit-codes.js';
import { unknownError } from '../../../lookup/wait.js';
import { localTime } from '../../../output/cells.js';
import { readFinal, recordSend, warnOfUnknown } from '../../../single/finish.js';
import { type SendOutcome, sendSingle } from '../../../single/send.js';
import { ensureShown } from '../../../single/shown.js';
import { counted, duration, grouped } from '../../../text/wording.js';
import { inOne } from '../next-command.js';
import type { BulkOptions } from '../options.js';
import { type ProofMessages, type ProofRow, proofView } from './messages.js';
import type { Proof } from './proof.js';

interface Sending {
  messages: ProofMessages;
  plan: FrozenPlan;
  options: BulkOptions;
  /** Whether the job has not begun. */
  isNew: boolean;
  /** Sends the job, and the proof again; null if they cannot be typed again. */
  command: PrintedCommand | null;
  repeat: PrintedCommand | null;
}

/** A message that was sent, or failed. */
interface Sent {
  row: ProofRow;
  /** Null for a failed one. */
  outcome: SendOutcome<SmsResult | EmailResult> | null;
}

/**
 * Sends the messages of a proof as single sends, under keys of the plan, the row and the recipient: a repeat sends
 * nothing twice. Throws as a single send, and CliError (exit 11) if all were sent before.
 */
export async function sendProof(context: Context, proof: Proof, sending: Sending): Promise<void> {
  const { io } = context;
  const safe = sending.options.again
    ? '--again would send it once more.'
    : 'The same command sends nothing twice.';
  const lastWords = () => io.warn(`stopped while a proof was sent. ${safe}`);
  const release = io.holdSignals({ lastWords });
  try {
    const { sent, stopped } = await sendAll(context, proof, sending);
    const problem = sending.options.wait ? await waitFor(context, sent, sending.options) : null;
    if (sent.length > 0)
      await io.printAll(
        proofView,
        sent.map(({ row }) => row),
      );
    if (stopped instanceof Interrupted) lastWords();
    if (stopped !== null) throw stoppedBy(stopped, sent, sending, safe);
    conclude(context, proof, sent, sending, problem);
  } finally {
    release();
  }
}

/** `stopped`: what kept it from sending the others. */
async function sendAll(
  context: Context,
  { to }: Proof,
  { messages, plan: { meta }, options }: Sending,
): Promise<{ sent: Sent[]; stopped: unknown }> {
  const { channel } = meta;
  const command = `${channel} bulk --proof`;
  const send = await context.network.frozenSend();
  const sent: Sent[] = [];
  for (const { fields, estimate } of messages) {
    const { row, parts } = estimate;
    const idempotencyKey = proofKey(meta, row, to);
    const single = { wait: options.wait ?? false, idempotencyKey, command };
    if (context.signal.aborted) return { sent, stopped: new Interrupted() };
    try {
      const outcome = await sendSingle(
        context,
        channel,
        { message: fields, earlier: fields },
        single,
        (message) => {
          const body = JSON.stringify(message);
          return send({ channel, kind: 'single', body, idempotencyKey }) as Promise<SmsResult | EmailResult>;
        },
      );
      sent.push({ row: { ...(await recordSend(context, outcome, single)), row }, outcome });
    } catch (error) {
      if (error === context.signal.reason) return { sent, stopped: new Interrupted() };
      if (!(error instanceof UrtuuError) || error.code !== 'provider_failed') return { sent, stopped: error };
      const { id = '', code, message } = error;
      const of = channel === 'sms' ? { parts } : {};
      const failed = { id, status: 'failed', channel, to, ...of, credits: 0, error: { code, message } };
      sent.push({ row: { ...failed, row } as ProofRow, outcome: null });
    }
  }
  return { sent, stopped: null };
}

/** Waits for all within `--wait-timeout`. Returns the first problem, or null. */
async function waitFor(
  context: Context,
  sent: readonly Sent[],
  { wait, waitTimeout }: BulkOptions,
): Promise<unknown> {
  const end = context.clock.elapsed() + waitTimeout;
  let first: unknown = null;
  for (const each of sent) {
    if (each.outcome === null) continue;
    const left = { wait: wait === true, waitTimeout: Math.max(0, end - context.clock.elapsed()) };
    const { message, problem } = await readFinal(context, each.outcome.sent, left);
    each.row = { ...message, row: each.row.row };
    first ??= problem;
  }
  return first;
}

/** The error of a single send says that nothing was sent, or names a key to repeat it with. */
function stoppedBy(
  error: unknown,
  sent: readonly Sent[],
  { messages, options }: Sending,
  safe: string,
): unknown {
  if (!(error instanceof UrtuuError) || (sent.length === 0 && !error.inDoubt)) return error;
  const { code, status, message, retryAfter, requestId, attempts, inDoubt } = error;
  const accepted = sent.filter(({ outcome }) => outcome !== null).length;
  const wait = retryAfter === null ? '' : ` Try again in ${duration(retryAfter)}.`;
  const what = inDoubt
    ? 'It may have been sent.'
    : `${accepted} of ${counted(messages.length, 'message')} sent.${wait}`;
  return new CliError(code, exitOfFailure(error, 'sending'), message, {
    hint: `${what} ${safe}`,
    details: {
      ...{ status, retry_after: retryAfter, request_id: requestId, attempts },
      ...(inDoubt ? { retryable: !options.again } : {}),
    },
    cause: error,
  });
}

/** Throws CliError, or Ended, unless the whole proof was sent now. */
function conclude(
  { io }: Context,
  { to }: Proof,
  sent: readonly Sent[],
  { options, isNew, command, repeat }: Sending,
  problem: unknown,
): void {
  const rows = sent.map(({ row }) => row);
  const ids = rows.map(({ id }) => id);
  const whom = `${counted(rows.length, 'message')} to ${io.printer.recipient(to)}`;
  const failed = rows.filter(({ status }) => status === 'failed').length;
  if (failed > 0) {
    io.attach({ ids });
    const what = `Proof: ${grouped(failed)} of ${whom} not sent, and refunded.`;
    if (repeat === null) io.conclude(`${what} Add --again to send a new proof.`);
    else io.conclude(what, ['Send a new proof with:', repeat]);
    throw new Ended(failed === rows.length ? exits.notSent : exits.partly);
  }
  if (problem !== null) throw problem;
  const unknown = rows.filter(({ delivery }) => delivery === 'unknown').length;
  if (unknown > 0 && options.wait) throw unknownError(unknown, { ids });
  if (unknown > 0) warnOfUnknown(io);
  const before = sent.filter(({ outcome }) => outcome?.sent.replayed).length;
  const next: NextStep | undefined = command === null ? undefined : ['Send the job with:', command];
  const way = next?.join(' ') ?? 'To send the job, run the same command without --proof.';
  if (before === sent.length && options.ifFinished !== 'ok') {
    const at = localTime(rows[0]?.created_at ?? '');
    const what = `this proof was sent at ${at}; nothing was sent this time`;
    throw refusedError('proof_done', what, `Add --again to send it again. ${way}`, { ids });
  }
  ensureShown(io.printer, {
    message: 'The proof was sent.',
    command: `urtuu messages get ${ids.join(' ')}`,
    details: { ids },
  });
  if (before > 0) io.note(`${grouped(before)} of ${whom} had been sent before.`);
  const credits = rows.reduce((sum, row) => sum + (row.credits ?? 0), 0);
  const job = isNew ? 'The job has not begun.' : 'The job was not resumed.';
  const text = `Proof: ${whom}, ${counted(credits, 'credit')}. ${job}`;
  io.note(...inOne(next === undefined ? `${text} ${way}` : text, next));
}
