import type { Entry } from '../../../../../src/cli/bulk/job/journal/entries.js';

/**
 * When the requests of a job were sent, by the times of their acceptances. A request without a time, because it is in
 * doubt or was accepted by an earlier release, counts from the latest possible moment: when its run ended, or the
 * journal was last written. A moment too early could lead to a second message.
 */
export class SendTimes {
  /** In milliseconds; below 0, the negative number of the run that sent it; 0 if nothing was sent. */
  readonly #times: Float64Array;
  readonly #ends: number[] = [];
  readonly #written: number;

  constructor(requests: number, written: number) {
    this.#times = new Float64Array(requests);
    this.#written = written;
  }

  /** Applies an entry, in the order of the journal. */
  apply(entry: Entry): void {
    switch (entry.type) {
      case 'send':
      case 'alarm':
        this.#times[entry.request] = this.#thisRun;
        break;
      case 'accepted':
        this.#times[entry.request] = entry.acceptedAt ?? (Date.parse(entry.replayOf ?? '') || this.#thisRun);
        break;
      case 'end':
        this.#ends.push(Date.parse(entry.at) || this.#written);
        break;
    }
  }

  /** Whether the request was sent at this moment or later; so was one from the future, by a wrong clock. */
  isSince(request: number, moment: number): boolean {
    const time = this.#times[request] ?? 0;
    return (time < 0 ? (this.#ends[-time - 1] ?? this.#written) : time) >= moment;
  }

  /** Whether the job sent something, or ended a run, at this moment or later. */
  isActiveSince(moment: number): boolean {
    return (
      this.#ends.some((end) => end >= moment) ||
      this.#times.some((_, request) => this.isSince(request, moment))
    );
  }

  get #thisRun(): number {
    return -1 - this.#ends.length;
  }
}
