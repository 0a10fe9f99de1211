import { comparedRecipient, mailboxOf, type SuppressionReason } from '../../../contract/index.js';
import { erasedKeyOf, keyOf, pseudonymsOf, reasonAmong, suppressedAs } from '../shared/recipients.js';
import type { PseudonymOf } from '../shared/secret.js';
import type { SuppressionRecord, Suppressions } from '../suppressions.js';
import { ofProject, reported } from './pages.js';
import type { Sql } from './sql.js';

export interface SuppressionRow {
  seq: number;
  recipient: string;
  reason: SuppressionReason;
  created_at: number;
}

export const toSuppression = ({ recipient, reason, created_at }: SuppressionRow): SuppressionRecord => ({
  to: recipient,
  reason,
  createdAt: created_at,
});

/** What gives way to a reason, and where: see `suppress`. */
const yielding = {
  opt_out: { reason: 'unknown_recipient', isAddress: false },
  unknown_recipient: { reason: 'opt_out', isAddress: true },
  manual: null,
} as const satisfies Record<SuppressionReason, { reason: SuppressionReason; isAddress: boolean } | null>;

/** Suppressed recipients, as they are compared; an erased one by its pseudonym, also of an address as it was written. */
export function createSuppressions(sql: Sql, pseudonymOf: PseudonymOf): Suppressions {
  /** One of these is as good as the reason. */
  function erasedAs(to: string, reason: SuppressionReason): readonly string[] {
    return reason === 'opt_out' ? [erasedKeyOf(to, reason, pseudonymOf)] : pseudonymsOf(to, pseudonymOf).own;
  }

  /** Returns how many were added. */
  async function insert(projectId: string, keys: readonly string[], reason: SuppressionReason) {
    const [added] = await sql.together<{ count: number }>(
      [
        [
          'added (seq, project)',
          `INSERT INTO :s.suppressions (project, recipient, reason, created_at)
           SELECT (SELECT seq FROM :s.projects WHERE id = :projectId), given.value, :reason, :now
           FROM :rows(keys) AS given WHERE true
           ON CONFLICT (project, recipient) DO NOTHING RETURNING seq, project`,
        ],
        ['recorded (seq)', `${reported('recipient.suppressed', 'added')} RETURNING seq`],
      ],
      'SELECT count(*) AS count FROM added',
      { projectId, reason, keys: [...new Set(keys)].sort() },
    );
    return added?.count ?? 0;
  }

  const parts: Suppressions = {
    async suppressAll(projectId, recipients, reason) {
      const forms = new Map(recipients.map((to) => [keyOf(to, reason), erasedAs(to, reason)]));
      // In one order: of two that add the same, one waits for the other.
      const keys = [...forms.keys()].sort();
      const weaker = yielding[reason];
      const changed = keys
        .filter((key) => key.includes('@') === weaker?.isAddress)
        .flatMap((key) => [key, erasedKeyOf(key, reason, pseudonymOf)]);
      if (weaker !== null && changed.length > 0)
        await sql.write(
          `UPDATE :s.suppressions SET reason = :reason
           WHERE ${ofProject} AND recipient :in(changed) AND reason = :weaker RETURNING seq`,
          { projectId, reason, changed, weaker: weaker.reason },
        );
      const among = async (given: readonly string[]) => {
        const rows = await sql.read<Pick<SuppressionRow, 'recipient' | 'reason'>>(
          `SELECT recipient, reason FROM :s.suppressions WHERE ${ofProject} AND recipient :in(given)`,
          { projectId, given: [...new Set(given)] },
        );
        return new Map(rows.map((row) => [row.recipient, row.reason]));
      };
      const known = await among([...forms.values()].flat());
      const isNew = (key: string) => !forms.get(key)?.some((each) => known.has(each));
      const added = await insert(projectId, keys.filter(isNew), reason);
      const tagged = recipients.filter((to) => keyOf(to, reason) !== comparedRecipient(to));
      if (tagged.length === 0) return added;
      // An address that is suppressed itself takes the place of the opt-out, and holds for none of its tags.
      const taken = await among(tagged.map(mailboxOf));
      const others = tagged.filter((to) => (taken.get(mailboxOf(to)) ?? reason) !== reason);
      return added + (await insert(projectId, others.map(comparedRecipient), reason));
    },
    async suppress(projectId, to, reason) {
      await parts.suppressAll(projectId, [to], reason);
    },
    async findSuppressions(projectId, recipients) {
      const asked = recipients.map((to) => suppressedAs(to, pseudonymOf));
      // One look-up each: without statistics, PostgreSQL would compare all of the project with the list.
      const rows = await sql.read<{ recipient: string; reason: SuppressionReason | null }>(
        `SELECT given.value AS recipient,
           (SELECT reason FROM :s.suppressions WHERE ${ofProject} AND recipient = given.value) AS reason
         FROM :rows(forms) AS given`,
        { projectId, forms: [...new Set(asked.flatMap(({ whole, optOut }) => [...whole, optOut]))] },
      );
      const found = new Map(rows.flatMap(({ recipient, reason }) => (reason ? [[recipient, reason]] : [])));
      return asked.map((each) => reasonAmong(each, found));
    },
    async listSuppressions(projectId, { limit, after }) {
      const [last] =
        after === null
          ? [{ seq: Number.MAX_SAFE_INTEGER }]
          : await sql.read<{ seq: number }>(
              `SELECT seq FROM :s.suppressions WHERE ${ofProject} AND recipient = :after`,
              { projectId, after },
            );
      if (last === undefined) return null;
      const rows = await sql.read<SuppressionRow>(
        `SELECT * FROM :s.suppressions WHERE ${ofProject} AND seq < :before ORDER BY seq DESC LIMIT :most`,
        { projectId, before: last.seq, most: limit + 1 },
      );
      const records = rows.slice(0, limit).map(toSuppression);
      return { records, next: rows.length > limit ? (records.at(-1)?.to ?? null) : null };
    },
    async removeSuppression(projectId, to, only) {
      const { whole, optOut } = suppressedAs(to, pseudonymOf);
      const removed = await sql.write(
        `DELETE FROM :s.suppressions WHERE ${ofProject}
           AND (recipient :in(whole) OR (recipient = :optOut AND reason = 'opt_out'))
           AND (:only::text IS NULL OR reason = :only) RETURNING seq`,
        { projectId, whole, optOut, only: only ?? null },
      );
      return removed.length > 0;
    },
  };
  return parts;
}
