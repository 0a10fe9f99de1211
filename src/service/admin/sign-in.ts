import { createHash, randomBytes } from 'node:crypto';

/** Milliseconds. */
export const linkLife = 600_000;
export const sessionLife = 43_200_000;

/** No other token can have it: it is hashed with the rest. */
const ownerMark = 'all.';

/** 192 bits, for a link or a cookie; of an owner who sees all projects, marked as that. */
export const newToken = (isOwner: boolean): string =>
  (isOwner ? ownerMark : '') + randomBytes(24).toString('base64url');

export const isOwnerToken = (token: string): boolean => token.startsWith(ownerMark);

/** The only form in which a token is stored. */
export const hashToken = (token: string): Uint8Array => createHash('sha256').update(token).digest();
