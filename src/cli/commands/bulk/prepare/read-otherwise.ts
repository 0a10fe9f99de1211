import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Channel, isSameBaseUrl } from '../../../../contract/index.js';
import { jobIds, jobsFolder } from '../../../bulk/job/jobs-folder.js';
import { jobIdOf } from '../../../bulk/job/keys.js';
import { viewJob } from '../../../bulk/job/open-job.js';
import { type MessageTemplates, parseTemplates } from '../../../bulk/plan/composer.js';
import type { PlanRecord } from '../../../bulk/plan/files/plan-format.js';
import { openPlan, readPlanRecord } from '../../../bulk/plan/files/plan-reader.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import { compare, differencesOf } from '../../../bulk/plan/plan-difference.js';
import { bindTemplate } from '../../../bulk/plan/template.js';
import { unguard } from '../../../csv/line.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { type ResumeContext, resumeOf } from '../next-command.js';
import type { BulkOptions } from '../options.js';

interface Wanted {
  channel: Channel;
  templates: MessageTemplates;
}

/**
 * Throws CliError (exit 11) for a job of the same list and templates whose messages are different because another
 * version of this program read the list otherwise: without this it would be sent twice.
 */
export async function refuseReadOtherwise(
  context: ResumeContext,
  wanted: Wanted,
  plan: FrozenPlan,
  { job: name, again }: Pick<BulkOptions, 'job' | 'again'>,
): Promise<void> {
  const { stateDirectory } = context.config;
  const ids = await jobIds(stateDirectory);
  if (name !== undefined || again || ids.includes(jobIdOf(plan.meta))) return;
  const record = await readPlanRecord(plan.folder);
  for (const id of ids) {
    const folder = join(jobsFolder(stateDirectory), id);
    // The comparison with recent sends has warned of a job that cannot be read.
    const earlier = await readPlanRecord(folder).catch(() => null);
    if (earlier === null || !(await isSameInput(earlier, record))) continue;
    const kept = await openPlan(folder).catch(() => null);
    if (kept !== null && (await isReadOtherwise(kept, plan, wanted)))
      throw await readOtherwise(context, id, await differencesOf(kept, plan));
  }
}

/** Of a workbook, a plan has only what was read in it: the file must be older than the plan. */
async function isSameInput(earlier: PlanRecord, { meta, table, files }: PlanRecord): Promise<boolean> {
  const { channel, baseUrl, digest, columns, path, created_at } = earlier.meta;
  if (channel !== meta.channel || !isSameBaseUrl(baseUrl, meta.baseUrl) || digest === meta.digest)
    return false;
  if (columns.join('\n') !== meta.columns.join('\n')) return false;
  if (earlier.files['input.csv'].sha256 === files['input.csv'].sha256) return true;
  const isSameSheet = table.sheet !== undefined && table.sheet.name === earlier.table.sheet?.name;
  if (!isSameSheet || path === undefined || path !== meta.path) return false;
  const written = (await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
  return written <= Date.parse(created_at);
}

/** Whether the templates, filled with the cells that the earlier plan kept, make its message, but now another one. */
async function isReadOtherwise(kept: FrozenPlan, plan: FrozenPlan, wanted: Wanted): Promise<boolean> {
  const { changed } = await compare(kept, plan);
  if (changed === null) return false;
  const { to: _, ...message } = JSON.parse(changed.body) as Record<string, unknown>;
  for await (const { line, values } of kept.rows()) {
    if (line !== changed.line) continue;
    const rendered = [values, values.map(guarded), values.map(unguard)].map((cells) =>
      render(wanted, kept.meta.columns, cells),
    );
    return rendered.includes(JSON.stringify(message));
  }
  return false;
}

/** As a version that leaves the guard reads a cell. */
const guarded = (value: string) => (unguard(`'${value}`) === value ? `'${value}` : value);

function render(
  { channel, templates }: Wanted,
  columns: readonly string[],
  values: readonly string[],
): string {
  const fields = parseTemplates(channel, templates).map(([field, template]) => {
    const bound = bindTemplate(template, columns, field === 'html' ? 'html' : 'plain');
    return [field, bound.render(values)];
  });
  return JSON.stringify(Object.fromEntries(fields));
}

async function readOtherwise(
  context: ResumeContext,
  id: string,
  differences: readonly string[],
): Promise<CliError> {
  const job = await viewJob(context.config.stateDirectory, id);
  const rename = 'Use a new --job name to send to everyone again';
  return new CliError(
    'job_differs',
    exits.refused,
    `the job ${id} has the same list and text, but this version reads the list otherwise: ${differences.join('; ')}`,
    {
      hint: `Nothing was sent this time. ${job.state.finished ? `${rename}.` : `${rename}, or finish that job: ${resumeOf(context, job)}`}`,
      details: { job: id, differences },
    },
  );
}
