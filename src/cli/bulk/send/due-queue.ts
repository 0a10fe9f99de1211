/** Items waiting until they are due, the earliest first: a binary heap. */
export class DueQueue<Item extends { /** Milliseconds on the caller's clock. */ due: number }> {
  readonly #heap: Item[] = [];

  get next(): Item | null {
    return this.#heap[0] ?? null;
  }

  put(item: Item): void {
    const heap = this.#heap;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfEarlier(at, parent)) break;
      at = parent;
    }
  }

  /** Removes the earliest item; null unless it is due. */
  take(now: number): Item | null {
    const first = this.#heap[0];
    if (first === undefined || first.due > now) return null;
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const child = this.#due(left + 1) < this.#due(left) ? left + 1 : left;
      if (!this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  #due(at: number): number {
    return this.#heap[at]?.due ?? Number.POSITIVE_INFINITY;
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const lower = this.#heap[child];
    const upper = this.#heap[parent];
    if (lower === undefined || upper === undefined || lower.due >= upper.due) return false;
    this.#heap[child] = upper;
    this.#heap[parent] = lower;
    return true;
  }
}
