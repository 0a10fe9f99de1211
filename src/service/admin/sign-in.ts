import { createHash, randomBytes } from 'node:crypto';
import type { Administration } from '../administration.js';
import type { Store } from '../storage/store.js';
import { timestamp } from '../timestamp.js';

/** Milliseconds. */
export const linkLife = 600_000;
export const sessionLife = 43_200_000;

/** Cannot be forged, because it is hashed with the rest of the token. */
const ownerMark = 'all.';

/** 192 bits, for a link or a cookie; the token of an owner who sees all projects is marked. */
export const newToken = (isOwner: boolean): string =>
  (isOwner ? ownerMark : '') + randomBytes(24).toString('base64url');

export const isOwnerToken = (token: string): boolean => token.startsWith(ownerMark);

/** By which the owner knows a session, of its hash in hex. */
export const signInId = (hash: string): string => hash.slice(0, 12);

/** Tokens are only stored hashed. */
export const hashToken = (token: string): Uint8Array => createHash('sha256').update(token).digest();

/** What the owner sees of sign-ins, and ends. */
export function signInAdministration(
  store: Pick<Store, 'listSignIns' | 'endSignIns' | 'listProjects' | 'listKeys'>,
): Pick<Administration, 'listSignIns' | 'endSignIns'> {
  return {
    async listSignIns() {
      const records = await store.listSignIns();
      const projects = new Map((await store.listProjects()).map(({ id, name }) => [id, name]));
      const keys = (await Promise.all([...projects.keys()].map((id) => store.listKeys(id)))).flat();
      const madeBy = (id: string) =>
        keys.filter(({ createdBy, revokedAt }) => createdBy === id && revokedAt === null);
      return records.map(({ id, projectId, isLink, createdAt, expiresAt }) => ({
        id,
        kind: isLink ? 'link' : 'session',
        project: projects.get(projectId) ?? projectId,
        created_at: timestamp(createdAt),
        expires_at: timestamp(expiresAt),
        keys: madeBy(id).map(({ prefix, id: key }) => prefix ?? key),
      }));
    },
    endSignIns: (id) => store.endSignIns(id === 'all' ? null : id.toLowerCase()),
  };
}
