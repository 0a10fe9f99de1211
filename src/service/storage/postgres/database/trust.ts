import type { Client } from 'pg';

/** Others could take over the service by functions and operators of their own. */
export class Takeover extends Error {
  override readonly name = 'Takeover';
  readonly code = 'others_may_create';
  /** A line for the owner, which names no place in the program. */
  override readonly stack = '';
  readonly problem: string;
  readonly way: string;

  constructor(problem: string, way: string) {
    super(`${problem}. ${way}`);
    this.problem = problem;
    this.way = way;
  }
}

/** Whether the role could do anything to the service in any case. A superuser is a member of all roles. */
const couldDoAnything = (role: string) =>
  `(${role}.rolsuper OR pg_has_role(${role}.oid, u.oid, 'MEMBER') OR pg_has_role(${role}.oid, d.datdba, 'MEMBER'))`;

/** Whether the service's role may act as the role `r`. */
const isOurs = "(NOT u.rolsuper AND pg_has_role(u.oid, r.oid, 'MEMBER'))";

/**
 * Whether the role `r` could do anything to the service in any case, or is a group of such roles: each member of a group
 * may give it what it has made. `u` is the service's role, `d` the database.
 */
export const isTrusted = `(${couldDoAnything('r')} OR r.rolname = 'pg_database_owner' OR (${isOurs} AND NOT EXISTS (
  SELECT 1 FROM pg_catalog.pg_roles m
  WHERE pg_has_role(m.oid, r.oid, 'MEMBER') AND NOT pg_has_role(u.oid, m.oid, 'MEMBER') AND NOT ${couldDoAnything('m')})))`;
export const ourselves = `JOIN pg_catalog.pg_roles u ON u.rolname = current_user
       JOIN pg_catalog.pg_database d ON d.datname = current_database()`;

/**
 * How others could take over the service in a schema: roles that may create in it, or own it and so give themselves any
 * right, and could do nothing to the service otherwise. Null if there are none. In a transaction.
 */
export async function takeoverOf(
  client: Client,
  { name: schema, oid }: { name: string; oid: number },
): Promise<Takeover | null> {
  const { rows } = await client.query<{ name: string; user: string; is_owner: boolean; is_public: boolean }>(
    `SELECT quote_ident(r.rolname) AS name, quote_ident(u.rolname) AS user, r.oid = n.nspowner AS is_owner, false AS is_public
     FROM pg_catalog.pg_roles r JOIN pg_catalog.pg_namespace n ON n.oid = $1 ${ourselves}
     WHERE (r.oid = n.nspowner OR has_schema_privilege(r.oid, n.oid, 'CREATE')) AND NOT ${isTrusted}
     UNION ALL
     SELECT 'PUBLIC', '', false, true FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
     WHERE n.oid = $1 AND a.grantee = 0 AND a.privilege_type = 'CREATE'
     ORDER BY is_owner DESC, is_public DESC, name`,
    [oid],
  );
  const [first] = rows;
  if (first === undefined) return null;
  // Rights that are given or taken away in a schema of others change nothing.
  if (first.is_owner) {
    return new Takeover(
      `the schema ${schema} belongs to the role ${first.name}, which can take over the service`,
      `Run as a superuser: ALTER SCHEMA ${schema} OWNER TO ${first.user}`,
    );
  }
  // Everybody has the right of everybody.
  const others = first.is_public ? first.name : rows.map(({ name }) => name).join(', ');
  return new Takeover(
    `others may create in the schema ${schema}, and so take over the service`,
    `Run as its owner: REVOKE CREATE ON SCHEMA ${schema} FROM ${others}`,
  );
}
