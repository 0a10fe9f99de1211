import type { ChunkTable } from './chunk-table.js';
import type { Chunk } from './plan.js';

/** Keeps a job below what the person allows it to spend. */
export class Budget {
  readonly #table: ChunkTable;
  readonly #limit: number;
  /** What the chunks now being settled are expected to cost. */
  readonly #underway = new Map<number, number>();
  /** How much dearer than planned a chunk has been. */
  #priceRise = 1;

  constructor(table: ChunkTable, limit = Number.POSITIVE_INFINITY) {
    this.#table = table;
    this.#limit = limit;
  }

  /** False when this chunk, with all that is under way, could cost more than is allowed. */
  take({ number, credits }: Chunk): boolean {
    this.#underway.set(number, credits);
    let expected = 0;
    // An accepted chunk is in the table's credits already.
    for (const [chunk, each] of this.#underway) if (this.#table.isOpen(chunk)) expected += each;
    return this.#table.credits + expected * this.#priceRise <= this.#limit;
  }

  learn(chunk: Chunk, charged: number): void {
    if (chunk.credits > 0) this.#priceRise = Math.max(this.#priceRise, charged / chunk.credits);
  }

  /** The chunk is settled, or left. */
  release(chunk: Chunk): void {
    this.#underway.delete(chunk.number);
  }
}
