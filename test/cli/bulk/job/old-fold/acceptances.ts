/** The acceptances of a job, and how many of them repeat one from another machine or a lost record. */
export class Acceptances {
  readonly #isReplay: Uint8Array;
  #all = 0;
  #replays = 0;
  #earliest: string | null = null;

  constructor(requests: number) {
    this.#isReplay = new Uint8Array(requests);
  }

  /** `replayOf`: as in the journal. */
  add(request: number, replayOf: string | null): void {
    this.#all += 1;
    if (replayOf === null) return;
    this.#isReplay[request] = 1;
    this.#replays += 1;
    if (replayOf !== '' && (this.#earliest === null || replayOf < this.#earliest)) this.#earliest = replayOf;
  }

  remove(request: number): void {
    this.#all -= 1;
    this.#replays -= this.#isReplay[request] ?? 0;
    this.#isReplay[request] = 0;
  }

  get areAllReplays(): boolean {
    return this.#replays > 0 && this.#replays === this.#all;
  }

  /** Null if unknown. */
  get earliestReplay(): string | null {
    return this.#earliest;
  }
}
