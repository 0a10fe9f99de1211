/** Rows that a new job takes from the report of another, by that job and what the report says of them. */
export class Origins {
  /** Input lines of the other job, by `status`. */
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

  /** The status of each line of a job's input that was taken. */
  statusByLine(job: string): Map<number, string> {
    const statuses = new Map<number, string>();
    for (const [status, lines] of this.#lines.get(job) ?? [])
      for (const line of lines) statuses.set(line, status);
    return statuses;
  }
}

/** Where a report says which job, which of its lines, and what became of it. */
export interface OriginColumns {
  job: number;
  line: number;
  status: number;
}

/** Null where the file is no report that names its job, as those of earlier releases. */
export function originColumnsOf(names: readonly string[]): OriginColumns | null {
  // What a report adds stands last; a column of the person's own may have the same name.
  const at = (name: string) => names.lastIndexOf(name);
  const columns = { job: at('job'), line: at('line'), status: at('status') };
  return Object.values(columns).includes(-1) ? null : columns;
}
