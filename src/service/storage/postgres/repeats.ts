import type { Dispatching } from '../dispatching.js';
import type { Database } from './database/database.js';
import type { Quiet } from './dispatch/quiet.js';

export function createRepeats(database: Database, quiet: Quiet): Pick<Dispatching, 'markRepeating'> {
  return {
    async markRepeating(claimed, withinMs) {
      const { seq, message, token, attempts, mark } = claimed;
      const [row] = await database.query<{ request: Buffer | null }>(
        'SELECT :s.mark_repeat_2($1::bigint, $2::bigint, $3::text, $4::text, $5::int, $6::bigint, $7::json) AS request',
        [database.now(), seq, message.id, token, attempts, withinMs, quiet.openings()],
      );
      if (!row?.request || mark === null) return null;
      const attempt = attempts + 1;
      return { claimed: { ...claimed, attempts: attempt, mark: { ...mark, attempt } }, request: row.request };
    },
  };
}
