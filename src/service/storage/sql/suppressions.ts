import { comparedRecipient, type SuppressionReason } from '../../../contract/index.js';
import { suppressedAs } from '../shared/recipients.js';
import type { PseudonymOf } from '../shared/secret.js';
import type { SuppressionRecord, Suppressions } from '../suppressions.js';
import { newestFirst, ofProject } from './pages.js';
import type { Sql } from './sql.js';

interface SuppressionRow {
  seq: number;
  recipient: string;
  reason: SuppressionReason;
  created_at: number;
}

const toRecord = ({ recipient, reason, created_at }: SuppressionRow): SuppressionRecord => ({
  to: recipient,
  reason,
  createdAt: created_at,
});

/** Suppressed recipients, as they are compared; an erased one by its pseudonym, also of an address as it was written. */
export function createSuppressions(sql: Sql, pseudonymOf: PseudonymOf): Suppressions {
  const isHe = `${ofProject} AND recipient IN (:to, :pseudonym, :asWritten)`;

  function forms(projectId: string, given: string) {
    const [to, pseudonym, asWritten] = suppressedAs(given, pseudonymOf);
    return { projectId, to, pseudonym, asWritten };
  }

  return {
    async suppress(projectId, to, reason) {
      await sql.write(
        `INSERT INTO :s.suppressions (project, recipient, reason, created_at)
         VALUES ((SELECT seq FROM :s.projects WHERE id = :projectId), :to, :reason, :now)
         ON CONFLICT (project, recipient) DO NOTHING`,
        { projectId, to: comparedRecipient(to), reason },
      );
    },
    async getSuppression(projectId, to) {
      // In the order of seq alone, SQLite would look through all of the project.
      const row = await sql.find<SuppressionRow>(
        `SELECT * FROM :s.suppressions WHERE ${isHe} ORDER BY seq + 0 DESC`,
        forms(projectId, to),
      );
      return row === undefined ? null : toRecord(row);
    },
    async listSuppressions(projectId, page) {
      const listed = await newestFirst<SuppressionRow>(sql, ['suppressions', 'recipient'], projectId, page);
      return listed && { records: listed.rows.map(toRecord), next: listed.next };
    },
    async removeSuppression(projectId, to) {
      const removed = await sql.write(
        `DELETE FROM :s.suppressions WHERE ${isHe} RETURNING seq`,
        forms(projectId, to),
      );
      return removed.length > 0;
    },
  };
}
