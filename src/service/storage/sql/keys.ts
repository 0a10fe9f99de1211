import { keyUseEvery } from '../admission.js';
import type { KeyRecord, NewKey } from '../records.js';
import { type KeyRow, toKey } from '../shared/rows.js';
import type { Store } from '../store.js';
import { ofProject } from './pages.js';
import { alone, query, type Sql, type Transaction } from './sql.js';

type Keys = Pick<Store, 'addKey' | 'addFirstKey' | 'listKeys' | 'revokeKey' | 'recordKeyUse'>;

/** API keys. */
export function createKeys(sql: Sql): Keys {
  /** At most so many active ones, or all with `countsRevoked`. */
  function* add(
    { expiry, ...key }: NewKey,
    most: number,
    countsRevoked: boolean,
  ): Transaction<KeyRecord | 'too_many' | 'over'> {
    const { projectId, id, hash, prefix, label, createdBy = null, scope } = key;
    yield* alone(`keys ${projectId}`);
    const [counted] = yield* query<{ at: number; keys: number }>(
      `SELECT n.at, (SELECT count(*) FROM :s.keys WHERE ${ofProject} AND (:countsRevoked::boolean
         OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > n.at)))) AS keys
       FROM (SELECT :now AS at) n`,
      { projectId, countsRevoked },
    );
    const { at: createdAt, keys } = counted as { at: number; keys: number };
    const expiresAt = expiry === null ? null : 'at' in expiry ? expiry.at : createdAt + expiry.afterMs;
    if (expiresAt !== null && expiresAt <= createdAt) return 'over';
    if (keys >= most) return 'too_many';
    yield* query(
      `INSERT INTO :s.keys (id, project, hash, prefix, label, created_by, scope, expires_at, created_at)
       VALUES (:id, (SELECT seq FROM :s.projects WHERE id = :projectId), :hash, :prefix, :label, :createdBy, :scope,
         :expiresAt, :createdAt)`,
      { id, projectId, hash, prefix, label, createdBy, scope: scope.join(','), expiresAt, createdAt },
    );
    return { ...key, createdBy, expiresAt, createdAt, revokedAt: null, usedAt: null };
  }

  return {
    addKey: (key, maxActive) => sql.transact(() => add(key, maxActive, false)),
    async addFirstKey(key) {
      const added = await sql.transact(() => add(key, 1, true));
      return typeof added === 'string' ? null : added;
    },
    async listKeys(projectId) {
      const rows = await sql.read<KeyRow>(
        `SELECT * FROM :s.keys WHERE ${ofProject} ORDER BY created_at, id`,
        { projectId },
      );
      return rows.map((row) => toKey(row, projectId));
    },
    async revokeKey(projectId, id) {
      const revoked = await sql.write(
        `UPDATE :s.keys SET revoked_at = :now WHERE ${ofProject} AND id = :id AND revoked_at IS NULL AND :durable
         RETURNING id`,
        { projectId, id },
      );
      return revoked.length > 0;
    },
    async recordKeyUse(id) {
      await sql.write(
        `UPDATE :s.keys SET used_at = :now
         WHERE id = :id AND coalesce(used_at NOT BETWEEN :now - ${keyUseEvery - 1} AND :now, true)`,
        { id },
      );
    },
  };
}
