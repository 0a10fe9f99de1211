import { type JobChoice, openJobToResume } from '../../../bulk/job/job-of-plan.js';
import { JobState } from '../../../bulk/job/job-state.js';
import type { Job } from '../../../bulk/job/open-job.js';
import { sharedLimit } from '../../../bulk/job/shared-limit.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import { previewed } from '../../../bulk/plan/preview.js';
import type { Context } from '../../../context.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { counted } from '../../../text/wording.js';
import { refuseCancelled } from '../cancellation.js';
import { checkKey } from '../confirm/account.js';
import { confirmSend } from '../confirm/confirm.js';
import { printDryRun } from '../confirm/not-sent.js';
import type { Findings } from '../confirm/preflight.js';
import { proofLines } from '../confirm/preflight-lines.js';
import { endFinished } from '../prepare/finished.js';
import type { PlanChoices, PlanSource } from '../prepare/plan-list.js';
import { Comparison, refuseOpen } from '../prepare/sent-before.js';
import { checkTaken } from '../prepare/take.js';
import { type ProofMessages, proofEstimateView, proofMessages } from './messages.js';
import { commandOf, type Proof } from './proof.js';
import { sendProof } from './send-proof.js';

/** A plan before it becomes a job. */
export interface PlannedJob {
  outcome: PlanOutcome;
  prices: Findings['prices'];
  wanted: PlanSource & { sharesLimit: boolean };
  choices: PlanChoices;
  child: Parameters<typeof checkTaken>[1];
  comparison: Comparison;
  choice: JobChoice;
}

/** Makes the checks of the job, asks, and sends the messages of its proof. Keeps nothing of the job. */
export async function prove(context: Context, proof: Proof, job: PlannedJob): Promise<void> {
  const { outcome, prices, wanted, choices, child } = job;
  const { plan } = child;
  const messages = await proofMessages(plan, outcome, proof, prices.known);
  await checkTaken(context, child, null);
  const earlier = await job.comparison.finish(outcome, plan, child.base);
  const findings = { outcome, prices, earlier, shared: null, proof: shownProof(context, proof, messages) };
  if (choices.dryRun) return showProof(context, job, findings, messages);
  await refuseOpen(context, earlier);
  const { job: resumed, id } = await openJobToResume(context.config.stateDirectory, plan, job.choice);
  try {
    if (resumed?.state.finished) return await endFinished(context, resumed, choices, null);
    await confirm(context, job, resumed ?? { id, plan, state: new JobState(plan.meta) }, findings);
  } finally {
    await resumed?.close();
  }
  const isNew = resumed === null;
  const again = choices.again === true && isNew && (id !== child.base || (await isRefusedOnce(context, job)));
  await sendProof(context, proof, {
    ...{ messages, plan, options: choices, isNew },
    command: commandOf(context, proof, wanted, choices, { again }),
    repeat: commandOf(context, proof, wanted, choices, { again: true, proves: true }),
  });
}

/** `2 messages to 99112233, 20 credits`, and what else is shown of it before. */
function shownProof(
  { io }: Pick<Context, 'io'>,
  { to, row }: Proof,
  messages: ProofMessages,
): NonNullable<Findings['proof']> {
  const credits = messages.map(({ estimate }) => estimate.credits);
  const sum = credits.reduce<number>((all, each) => all + (each ?? 0), 0);
  const price = credits.includes(null) ? '' : `, ${counted(sum, 'credit')}`;
  const size = `${counted(messages.length, 'message')} to ${io.printer.recipient(to)}${price}`;
  const [first] = messages;
  const message = previewed(
    { to: [to], body: JSON.stringify(first.fields) },
    first.estimate.channel === 'sms',
  );
  return {
    lines: proofLines(io, size, row, message),
    question: `Send a proof of ${size}? The job does not begin.`,
  };
}

async function showProof(
  context: Context,
  { child, choices }: PlannedJob,
  findings: Findings,
  messages: ProofMessages,
): Promise<void> {
  const { io, options } = context;
  const estimates = messages.map(({ estimate }) => estimate);
  if (io.printer.isMachine || options.columns !== undefined || options.value !== undefined)
    return io.printAll(proofEstimateView, estimates);
  return printDryRun(context, { id: child.base, plan: child.plan }, findings, choices);
}

/** Asks as the job would, with the limit that it would have. */
async function confirm(
  context: Context,
  { wanted: { like, sharesLimit }, choices, child }: PlannedJob,
  job: Pick<Job, 'id' | 'plan' | 'state'> | Job,
  findings: Findings,
): Promise<void> {
  const { state } = job;
  if ('journal' in job) {
    await refuseCancelled(context, job);
    await checkKey(context, job, choices);
  }
  const shares = like !== undefined && sharesLimit && (state.untouched || state.limit === null);
  const shared = shares ? await sharedLimit(context.config.stateDirectory, like, job.id) : null;
  if (shared !== null) state.limit = shared.left;
  await confirmSend(context, job, child.plan.meta, { ...findings, shared }, choices);
}

/** Whether the job would be refused without `--again`, which may be meant for the proof alone. */
async function isRefusedOnce(
  context: Context,
  { outcome, wanted, choices, child }: PlannedJob,
): Promise<boolean> {
  const plan = { ...child.plan, meta: { ...child.plan.meta, run: null } };
  try {
    await checkTaken(context, { ...child, plan }, null);
    const comparison = new Comparison(context, wanted, { ...choices, again: false });
    const { toConfirm, open } = await comparison.finish(outcome, plan, child.base);
    return toConfirm > 0 || open.size > 0;
  } catch (error) {
    if (error instanceof CliError && error.exit === exits.refused) return true;
    throw error;
  }
}
