import type { Dispatching } from '../dispatching.js';
import { mailboxIn, pseudonymList } from '../shared/recipients.js';
import type { PseudonymOf } from '../shared/secret.js';
import { isAskedAgain, obeysOptOuts } from '../suppressions.js';
import type { Database } from './database/database.js';
import type { Quiet } from './dispatch/quiet.js';

export function createRepeats(
  database: Database,
  { pseudonymOf, quiet }: { pseudonymOf: PseudonymOf; quiet: Quiet },
): Pick<Dispatching, 'markRepeating'> {
  return {
    async markRepeating(claimed, withinMs) {
      const { seq, message, token, attempts, mark } = claimed;
      const [row] = await database.query<{ request: Buffer | null }>(
        `SELECT CASE WHEN NOT $8::boolean OR :s.suppressed_1((SELECT p.seq FROM :s.projects p WHERE p.id = $9::text),
             $10::text, $11::text, $12::text[], $13::boolean) IS NULL
           THEN :s.mark_repeat_2($1::bigint, $2::bigint, $3::text, $4::text, $5::int, $6::bigint, $7::json) END AS request`,
        [
          ...[database.now(), seq, message.id, token, attempts, withinMs, quiet.openings()],
          ...[isAskedAgain(claimed), message.projectId, message.to, mailboxIn(message.to)],
          ...[pseudonymList(message.to, pseudonymOf), obeysOptOuts(message, claimed.content)],
        ],
      );
      if (!row?.request || mark === null) return null;
      const attempt = attempts + 1;
      return { claimed: { ...claimed, attempts: attempt, mark: { ...mark, attempt } }, request: row.request };
    },
  };
}
