import type { OwnColumns } from '../input/report-columns.js';

/** Rows of a new plan that come from the reports of other jobs. */
export class ReportedRows {
  /** Lines of the rows in a job's input, by job id and `status`. */
  readonly #lines = new Map<string, Map<string, number[]>>();

  add(job: string, status: string, line: number): void {
    const ofJob = this.#lines.get(job) ?? new Map<string, number[]>();
    this.#lines.set(job, ofJob);
    const lines = ofJob.get(status) ?? [];
    ofJob.set(status, lines);
    lines.push(line);
  }

  get jobs(): string[] {
    return [...this.#lines.keys()];
  }

  statusByLine(job: string): Map<number, string> {
    const statuses = new Map<number, string>();
    for (const [status, lines] of this.#lines.get(job) ?? [])
      for (const line of lines) statuses.set(line, status);
    return statuses;
  }
}

/** Indexes of the columns with the job, the line and the status of a report's row. */
export interface ReportColumns {
  job: number;
  line: number;
  status: number;
}

/** Null for a file that is not a report, or a report of an earlier release, which does not name its job. */
export function findReportColumns(names: readonly string[], own: OwnColumns): ReportColumns | null {
  // A file may have lost the columns that show that it is a report.
  const at = (name: string) => own.get(name) ?? names.lastIndexOf(name);
  const columns = { job: at('job'), line: at('line'), status: at('status') };
  return Object.values(columns).includes(-1) ? null : columns;
}
