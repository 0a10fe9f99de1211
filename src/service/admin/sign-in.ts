import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Administration } from '../administration.js';
import type { Store } from '../storage/store.js';
import { timestamp } from '../timestamp.js';

/** Milliseconds. */
export const linkLife = 600_000;
export const sessionLife = 43_200_000;

/** Who a link or a session is for. */
export interface Rights {
  /** Sees all projects. */
  isOwner: boolean;
  /** Changes and sends nothing. */
  isReadOnly: boolean;
}

/** Marks cannot be forged, because they are hashed with the rest of the token. */
const marks = { owner: 'all.', changes: 'send.', readOnly: 'look.' } as const;

/** 192 bits, for a link or a cookie. */
export const newToken = ({ isOwner, isReadOnly }: Rights): string =>
  (isOwner ? marks.owner : '') +
  (isReadOnly ? marks.readOnly : marks.changes) +
  randomBytes(24).toString('base64url');

const hasMark = (token: string, mark: string) =>
  token.startsWith(mark) || token.startsWith(marks.owner + mark);

/** A token of an earlier release, which could not send, has no mark but that of an owner: it only looks. */
export const rightsOf = (token: string): Rights => ({
  isOwner: token.startsWith(marks.owner),
  isReadOnly: !hasMark(token, marks.changes),
});

/** By which the owner knows a session, of its hash in hex. */
export const signInId = (hash: string): string => hash.slice(0, 12);

/** Tokens are only stored hashed; those that only look so that an earlier release, whose sessions all change, finds none. */
export const hashToken = (token: string): Uint8Array =>
  (hasMark(token, marks.readOnly) ? createHmac('sha256', marks.readOnly) : createHash('sha256'))
    .update(token)
    .digest();

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
