import type { SuppressionReason } from '../../../../contract/index.js';
import type { Mark } from '../../dispatching.js';
import { reasonAmong, suppressedAs } from '../../shared/recipients.js';
import type { PseudonymOf } from '../../shared/secret.js';
import { isAskedAgain, obeysOptOuts } from '../../suppressions.js';
import type { Database } from '../database/database.js';
import { prepareOnce } from '../database/prepare-once.js';
import type { Projects } from '../projects.js';

/** SQL: whether a project has a list; most have none, and pay for nothing else. */
export const hasSuppressions = (project: string) =>
  `EXISTS (SELECT 1 FROM suppressions WHERE project = ${project})`;

/** Who is sent nothing more. The functions read inside their caller's transaction. */
export function prepareSuppressed(database: Database, projects: Projects, pseudonymOf: PseudonymOf) {
  const prepared = prepareOnce(database);
  const selectQueued = database.prepare(
    "SELECT 1 FROM messages WHERE seq = ? AND id = ? AND status = 'queued'",
  );
  const selectAny = database.prepare(`SELECT ${hasSuppressions('?')} AS isAny`);

  /** Why a recipient is suppressed; null if it is not. */
  function reasonOf(project: number, to: string, obeys: boolean): SuppressionReason | null {
    const forms = suppressedAs(to, pseudonymOf);
    const rows = prepared(
      'SELECT recipient, reason FROM suppressions WHERE project = ? AND recipient IN (?, ?, ?, ?, ?)',
    ).all(project, ...forms.whole, forms.optOut) as { recipient: string; reason: SuppressionReason }[];
    if (rows.length === 0) return null;
    return reasonAmong(forms, new Map(rows.map(({ recipient, reason }) => [recipient, reason])), obeys);
  }

  return {
    reasonOf,
    /** By the number of the message: why the recipients of these marks are suppressed. */
    reasonsOf(marks: readonly Pick<Mark, 'claimed'>[]): ReadonlyMap<number, SuppressionReason> {
      const reasons = new Map<number, SuppressionReason>();
      const listed = new Map<string, number | null>();
      for (const { claimed } of marks) {
        if (!isAskedAgain(claimed)) continue;
        const { id, projectId, to } = claimed.message;
        let project = listed.get(projectId);
        if (project === undefined) {
          const number = projects.numberOf(projectId);
          project = (selectAny.get(number) as { isAny: number }).isAny === 1 ? number : null;
          listed.set(projectId, project);
        }
        if (project === null) continue;
        const reason = reasonOf(project, to, obeysOptOuts(claimed.message, claimed.content));
        // One that has ended meanwhile may be erased: nobody marks it.
        if (reason !== null && selectQueued.get(claimed.seq, id) !== undefined)
          reasons.set(claimed.seq, reason);
      }
      return reasons;
    },
  };
}

export type Suppressed = ReturnType<typeof prepareSuppressed>;
