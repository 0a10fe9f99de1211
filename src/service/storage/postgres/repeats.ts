import type { Dispatching } from '../dispatching.js';
import type { Database } from './database/database.js';

export function createRepeats(database: Database): Pick<Dispatching, 'markRepeating'> {
  return {
    async markRepeating(claimed, withinMs) {
      const { seq, message, token, attempts, mark } = claimed;
      const [row] = await database.query<{ request: Buffer | null }>(
        'SELECT mark_repeat_1($1, $2, $3, $4, $5, $6) AS request',
        [database.now(), seq, message.id, token, attempts, withinMs],
      );
      if (!row?.request || mark === null) return null;
      const attempt = attempts + 1;
      return { claimed: { ...claimed, attempts: attempt, mark: { ...mark, attempt } }, request: row.request };
    },
  };
}
