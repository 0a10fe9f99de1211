import { comparedRecipient } from '../../../contract/index.js';
import type { Listed, PageRequest } from '../lists.js';
import type { Instant } from '../records.js';
import { type SuppressionRow, toSuppression } from '../shared/inbox-rows.js';
import { suppressedAs } from '../shared/recipients.js';
import type { PseudonymOf } from '../shared/secret.js';
import type { SuppressionRecord } from '../suppressions.js';
import type { Database } from './database/database.js';
import type { Projects } from './projects.js';
import { newestFirst } from './read/pages.js';

/** Suppressed recipients. The functions run inside their caller's transaction. */
export function prepareSuppressions(
  database: Database,
  projects: Projects,
  pseudonymOf: PseudonymOf,
  now: () => Instant,
) {
  const insert = database.prepare(
    `INSERT INTO suppressions (project, recipient, reason, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const select = database.prepare('SELECT * FROM suppressions WHERE project = ? AND recipient IN (?, ?, ?)');
  const remove = database.prepare('DELETE FROM suppressions WHERE project = ? AND recipient IN (?, ?, ?)');
  const pages = newestFirst<SuppressionRow>(database, 'suppressions', 'recipient');

  return {
    add(projectId: string, to: string, reason: string): void {
      insert.run(projects.numberOf(projectId), comparedRecipient(to), reason, now());
    },
    get(projectId: string, to: string): SuppressionRecord | null {
      const row = select.get(projects.numberOf(projectId), ...suppressedAs(to, pseudonymOf)) as
        | SuppressionRow
        | undefined;
      return row === undefined ? null : toSuppression(row);
    },
    list(projectId: string, page: PageRequest): Listed<SuppressionRecord> | null {
      const listed = pages(projects.numberOf(projectId), page);
      return listed && { records: listed.rows.map(toSuppression), next: listed.next };
    },
    remove: (projectId: string, to: string): boolean =>
      remove.run(projects.numberOf(projectId), ...suppressedAs(to, pseudonymOf)).changes > 0,
  };
}
