import type { Database } from '../database/database.js';

/** Part of the format: a block is stored under its number. */
const rowsPerBlock = 1_024;

/** SQL: the blocks and their times, with that of the newest messages. */
const blocksOf = (size: number) =>
  // A running older release deletes messages but not their blocks.
  `WITH full AS (SELECT * FROM message_blocks WHERE block < (SELECT max(seq) FROM messages) / ${size})
   SELECT block * ${size} + 1 AS first, (block + 1) * ${size} AS last, earliest, latest FROM full
   UNION ALL
   SELECT min(seq), max(seq), min(created_at), max(created_at) FROM messages
   WHERE seq > (SELECT coalesce(max(block) + 1, 0) * ${size} FROM full)`;

/** SQL: the lowest or highest number of the blocks with the messages between `:since` and `:until`; NULL if there are none. */
export const inTime = (end: 'min(first)' | 'max(last)', size = rowsPerBlock) =>
  `(SELECT ${end} FROM (${blocksOf(size)}) WHERE latest >= coalesce(:since, ${Number.MIN_SAFE_INTEGER})
    AND earliest < coalesce(:until, ${Number.MAX_SAFE_INTEGER}))`;

/**
 * The earliest and latest creation time of every full block of messages; an index of times would slow down every
 * send. It stays correct when the clock is set back: all times of a block are between its two.
 */
export function prepareMessageBlocks(database: Database, size = rowsPerBlock) {
  const removeFrom = database.prepare('DELETE FROM message_blocks WHERE block >= ?');
  const selectNext = database.prepare('SELECT coalesce(max(block) + 1, 0) AS next FROM message_blocks');
  const insert = database.prepare(
    `INSERT INTO message_blocks (block, earliest, latest)
     SELECT ?, min(created_at), max(created_at) FROM messages WHERE seq BETWEEN ? AND ? HAVING count(*) > 0`,
  );

  return {
    /** Writes inside the transaction that stored these messages. */
    accepted(first: number, last: number): void {
      const filled = Math.floor(last / size);
      const before = Math.floor((first - 1) / size);
      if (filled === before) return;
      removeFrom.run(before);
      const { next } = selectNext.get() as { next: number };
      for (let block = next; block < filled; block += 1) {
        insert.run(block, block * size + 1, (block + 1) * size);
      }
    },
  };
}

export type MessageBlocks = ReturnType<typeof prepareMessageBlocks>;
