import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { query } from '../postgres.js';
import { sharedUrl } from './shared.js';

/** A role that can sign in until the end of the test, and the address of the database for it. */
export async function newRole(url: string): Promise<{ role: string; as: string }> {
  const role = `role_${randomBytes(6).toString('hex')}`;
  await query(url, `CREATE ROLE ${role} LOGIN`);
  const server = `${await sharedUrl()}/postgres`;
  onTestFinished(async () => {
    await query(url, `DROP OWNED BY ${role} CASCADE`).catch(() => {});
    await query(server, `REASSIGN OWNED BY ${role} TO postgres; DROP ROLE ${role}`);
  });
  const as = new URL(url);
  as.username = role;
  return { role, as: as.href };
}
