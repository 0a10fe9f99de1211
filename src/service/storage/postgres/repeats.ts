import type { Dispatching } from '../dispatching.js';
import type { Database } from './database/database.js';

export function createRepeats(database: Database): Pick<Dispatching, 'markRepeating'> {
  return {
    async markRepeating(claimed, withinMs) {
      const { seq, message, token, attempts, mark } = claimed;
      const [row] = await database.query<{ request: Buffer | null }>(
        'SELECT :s.mark_repeat_1($1::bigint, $2::bigint, $3::text, $4::text, $5::int, $6::bigint) AS request',
        [database.now(), seq, message.id, token, attempts, withinMs],
      );
      if (!row?.request || mark === null) return null;
      const attempt = attempts + 1;
      return { claimed: { ...claimed, attempts: attempt, mark: { ...mark, attempt } }, request: row.request };
    },
  };
}
