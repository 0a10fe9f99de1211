/** Time that passes only when everybody waits: `sleep` is given to what is tested, `run` moves the clock. */
export class VirtualClock {
  time = 1_700_000_000_000;
  #sleepers: { at: number; wake: () => void }[] = [];

  now = (): number => this.time;

  elapsed = (): number => this.time - 1_600_000_000_000;

  after = (milliseconds: number, run: () => void): (() => void) => {
    const cancelled = new AbortController();
    void this.sleep(milliseconds, cancelled.signal).then(() => cancelled.signal.aborted || run());
    return () => cancelled.abort();
  };

  sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { at: this.time + Math.max(0, milliseconds), wake: () => finish() };
      const finish = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      signal?.addEventListener('abort', finish);
      this.#sleepers.push(sleeper);
    });
  };

  /** Moves time on, from sleeper to sleeper, until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const end = work.finally(() => {
      done = true;
    });
    end.catch(() => {});
    // Files are read and written in real time.
    let busy = performance.now();
    for (let idle = 0; !done && (idle < 1_000 || performance.now() - busy < 2_000); ) {
      await new Promise((resolve) => setImmediate(resolve));
      const first = this.#sleepers.reduce<number>(
        (least, { at }) => Math.min(least, at),
        Number.POSITIVE_INFINITY,
      );
      const due = this.#sleepers.filter(({ at }) => at === first);
      idle = due.length === 0 ? idle + 1 : 0;
      if (due.length > 0 && !done) {
        busy = performance.now();
        this.time = Math.max(this.time, first);
        for (const { wake } of due) wake();
      }
    }
    if (!done) throw new Error('nobody sleeps and nothing goes on');
    return end;
  }

  /** Forgets who sleeps, as a dead process does. */
  forget(): void {
    this.#sleepers = [];
  }
}
