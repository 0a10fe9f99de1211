import { reportColumn } from '../input/report-columns.js';
import type { Origin } from './files/plan-format.js';
import type { RowSet } from './row-set.js';

/** Rows selected by their delivery were sent, and stay so in their own job. */
export const isOfDelivery = (status: string) => status === 'undelivered' || status === 'unknown';

/** The error code of a recipient on the service's do-not-send list. */
export const suppressedCode = 'recipient_suppressed';

/** Rows of a new plan that come from the reports of other jobs. */
export class ReportedRows {
  /** By job id and `status`: lines in the job's input, each before the number of its row here. */
  #rows = new Map<string, Map<string, number[]>>();
  /** By job id, the first of its rows whose batch, or message, the report names. */
  readonly named = new Map<string, { line: number; id: string }>();

  /** Notes the batch, or message, of a row. */
  name(job: string, line: number, id: string): void {
    if (id !== '' && !this.named.has(job)) this.named.set(job, { line, id });
  }

  add(job: string, status: string, { line, row }: { line: number; row: number }): void {
    const ofJob = this.#rows.get(job) ?? new Map<string, number[]>();
    this.#rows.set(job, ofJob);
    const rows = ofJob.get(status) ?? [];
    ofJob.set(status, rows);
    rows.push(line, row);
  }

  get jobs(): string[] {
    return [...this.#rows.keys()];
  }

  /** The rows that this plan takes from those jobs: what was sent is sent once more on purpose, and stays theirs. */
  origins(): Origin[] {
    const isTaken = ([status]: [string, unknown]) => status !== 'sent' && status !== 'queued';
    return [...this.#rows].flatMap(([job, rows]) =>
      [...rows]
        .filter(isTaken)
        .map(([status, lines]): Origin => [job, status, lines.filter((_, at) => at % 2 === 0)]),
    );
  }

  /** Rows that are not sent after all stay in their job. */
  leaveOut(skipped: RowSet): void {
    const kept = new ReportedRows();
    for (const job of this.jobs)
      for (const { line, status, row } of this.#ofJob(job))
        if (!skipped.has(row)) kept.add(job, status, { line, row });
    this.#rows = kept.#rows;
  }

  *#ofJob(job: string): Iterable<{ line: number; status: string; row: number }> {
    for (const [status, rows] of this.#rows.get(job) ?? [])
      for (let at = 0; at < rows.length; at += 2)
        yield { line: rows[at] ?? 0, status, row: rows[at + 1] ?? 0 };
  }
}

/** Indexes of the columns with the job, the line, the batch and the message of a report's row; the ids may be -1. */
export interface ReportColumns {
  job: number;
  line: number;
  batch: number;
  message: number;
}

/** Null for a file that is not a report, or a report of an earlier release, which does not name its job. */
export function findReportColumns(names: readonly string[]): ReportColumns | null {
  const at = (name: string) => reportColumn(names, name);
  const columns = { job: at('job'), line: at('line'), batch: at('batch_id'), message: at('message_id') };
  return columns.job === -1 || columns.line === -1 ? null : columns;
}
