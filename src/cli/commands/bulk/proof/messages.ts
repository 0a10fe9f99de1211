import { measureText } from '../../../../contract/index.js';
import { located, sheetName } from '../../../bulk/input/input-error.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { FrozenPlan, PlannedRequest } from '../../../bulk/plan/plan.js';
import { requestOf } from '../../../bulk/plan/preview.js';
import { type CliError, inputError } from '../../../errors.js';
import { field, type View } from '../../../output/view.js';
import { type MessageRow, sentView } from '../../../output/views.js';
import { type Estimate, estimateView } from '../../../single/dry-run.js';
import type { Proof } from './proof.js';

/** A message of a job, to the recipient of its proof. */
export interface ProofMessage {
  /** The fields of its request. */
  fields: { to: string; subject?: string; text?: string; html?: string };
  estimate: ProofEstimate;
}

/** One or two. */
export type ProofMessages = [ProofMessage, ...ProofMessage[]];

export interface ProofRow extends MessageRow {
  row: number;
}
interface ProofEstimate extends Estimate {
  row: number;
}

/**
 * The first and the longest message of a plan, once if they are the same, or that of the proof's row. Throws CliError
 * (exit 8) for a row without a message of its own.
 */
export async function proofMessages(
  plan: FrozenPlan,
  { preview }: Pick<PlanOutcome, 'preview'>,
  proof: Proof,
  isPriced: boolean,
): Promise<ProofMessages> {
  if (proof.row !== undefined) {
    const { request, index } = await placeOf(plan, proof.row);
    return [messageOf(request, index, proof, isPriced)];
  }
  const of = async (number: number) => messageOf(await planned(plan, number), 0, proof, isPriced);
  const longest = preview?.longestRequest ?? 0;
  return longest === 0 ? [await of(0)] : [await of(0), await of(longest)];
}

function messageOf(
  { body, lines, to: recipients, credits }: PlannedRequest,
  index: number,
  { to }: Proof,
  isPriced: boolean,
): ProofMessage {
  const fields: ProofMessage['fields'] = { ...JSON.parse(body), to };
  const { text = '', html = '' } = fields;
  const sms = fields.subject === undefined ? measureText(text) : null;
  return {
    fields,
    estimate: {
      row: lines[index] ?? 0,
      to,
      channel: sms === null ? 'email' : 'sms',
      kind: sms?.kind ?? null,
      size: sms?.units ?? Buffer.byteLength(html) + Buffer.byteLength(text),
      parts: sms?.parts ?? null,
      credits: isPriced ? credits / recipients.length : null,
    },
  };
}

async function planned(plan: FrozenPlan, number: number): Promise<PlannedRequest> {
  const request = await requestOf(plan, number);
  if (request === null) throw new RangeError(`the plan has no request ${number}`);
  return request;
}

/** The place of the message of a row. */
async function placeOf(plan: FrozenPlan, line: number) {
  for await (const row of plan.rows()) {
    if (row.line !== line) continue;
    // Excluded.
    if (row.place === null && row.error === null) break;
    if (row.place === null) throw noMessage(plan, line, row.error ?? '', 'That row is rejected');
    const request = await planned(plan, row.place.request);
    const { index } = row.place;
    const first = request.lines[index] ?? line;
    if (first === line) return { request, index };
    throw noMessage(plan, line, `same recipient as line ${first}`, `Its message is that of row ${first}`);
  }
  const way = 'Count rows as errors do; an option may leave this one out';
  throw noMessage(plan, line, 'the job does not send this row', way);
}

function noMessage({ meta, input }: FrozenPlan, line: number, what: string, way: string): CliError {
  const source = input?.sheet === undefined ? meta.source : sheetName(meta.source, input.sheet.name);
  return inputError(located(source, what, { line }), `Nothing was sent. ${way}.`);
}

/** Fits into 80 columns. */
const shown = new Set(['id', 'status', 'parts', 'credits', 'error']);

export const proofView: View<ProofRow> = {
  columns: [field('row', { kind: 'number' }), ...sentView.columns],
  table: [field('row', { kind: 'number' }), ...sentView.columns.filter(({ name }) => shown.has(name))],
  record: (row) => row,
};

export const proofEstimateView: View<ProofEstimate> = {
  columns: [field('row', { kind: 'number' }), ...estimateView.columns],
  record: (estimate) => estimate,
};
