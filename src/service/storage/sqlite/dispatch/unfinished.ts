import type { ClaimedMessage } from '../../dispatching.js';
import type { Holding } from '../../holding.js';
import type { Database } from '../database/database.js';
import type { Claims } from './claims.js';
import type { Leases } from './leases.js';
import { runsOf } from './runs.js';

type Claim = Parameters<Holding['claimUnfinished']>[0];

/** Unfinished messages, while the store is held. The functions run inside their caller's transaction. */
export function prepareUnfinished(database: Database, leases: Leases, claims: Claims) {
  const waiting = 'FROM messages WHERE due_at IS NOT NULL AND route IS NULL';
  const doubtful = 'FROM messages WHERE due_at IS NOT NULL AND route IS NOT NULL';
  const select = database.prepare(
    `SELECT seq FROM (SELECT seq ${waiting} LIMIT :limit) UNION ALL SELECT seq FROM (SELECT seq ${doubtful} LIMIT :limit)
     LIMIT :limit`,
  );
  const take = database.prepare('UPDATE messages SET lease = ?, due_at = NULL WHERE seq = ?');

  return {
    claim({ token, leaseMs, limit }: Claim): ClaimedMessage[] {
      leases.endAll();
      const numbers = (select.all({ limit }) as { seq: number }[]).map(({ seq }) => seq);
      if (numbers.length === 0) return [];
      for (const seq of numbers) take.run(token, seq);
      leases.open({ token, leaseMs }, runsOf(numbers));
      return numbers.flatMap((seq) => claims.read(seq) ?? []).map((one) => ({ ...one, token }));
    },
  };
}
