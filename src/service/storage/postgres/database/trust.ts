import type { Client } from 'pg';

/** Others could take over the service by functions and operators of their own. */
export class Takeover extends Error {
  override readonly name = 'Takeover';
  readonly code = 'others_may_create';
  /** A line for the owner, which names no place in the program. */
  override readonly stack = '';
  readonly problem: string;
  readonly way: string;

  constructor(schema: string, others: readonly string[]) {
    const problem = `others may create in the schema ${schema}, and so take over the service`;
    const way = `Run as its owner: REVOKE CREATE ON SCHEMA ${schema} FROM ${others.join(', ')}`;
    super(`${problem}. ${way}`);
    this.problem = problem;
    this.way = way;
  }
}

/** Whether the role could do anything to the service in any case. A superuser is a member of all roles. */
const couldDoAnything = (role: string) =>
  `(${role}.rolsuper OR pg_has_role(${role}.oid, u.oid, 'MEMBER') OR pg_has_role(${role}.oid, d.datdba, 'MEMBER'))`;

/** Whether the service's role may act as the role `r`. */
export const isOurs = "(NOT u.rolsuper AND pg_has_role(u.oid, r.oid, 'MEMBER'))";

/**
 * Whether the role `r` could do anything to the service in any case, or is a group of such roles: each member of a group
 * may give it what it has made. `u` is the service's role, `d` the database.
 */
export const isTrusted = `(${couldDoAnything('r')} OR r.rolname = 'pg_database_owner' OR (${isOurs} AND NOT EXISTS (
  SELECT 1 FROM pg_catalog.pg_roles m
  WHERE pg_has_role(m.oid, r.oid, 'MEMBER') AND NOT pg_has_role(u.oid, m.oid, 'MEMBER') AND NOT ${couldDoAnything('m')})))`;
export const ourselves = `JOIN pg_catalog.pg_roles u ON u.rolname = current_user
       JOIN pg_catalog.pg_database d ON d.datname = current_database()`;

/** Roles that may create in a schema, and could do nothing to the service otherwise. In a transaction. */
export async function othersWhoCreate(client: Client, schema: number): Promise<string[]> {
  const { rows } = await client.query<{ name: string; is_public: boolean }>(
    `SELECT 'PUBLIC' AS name, true AS is_public FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
     WHERE n.oid = $1 AND a.grantee = 0 AND a.privilege_type = 'CREATE'
     UNION ALL
     SELECT quote_ident(r.rolname), false FROM pg_catalog.pg_roles r ${ourselves}
     WHERE has_schema_privilege(r.oid, $1, 'CREATE') AND NOT ${isTrusted}
     ORDER BY is_public DESC, name`,
    [schema],
  );
  // Everybody has the right of everybody.
  return rows[0]?.is_public ? ['PUBLIC'] : rows.map(({ name }) => name);
}
