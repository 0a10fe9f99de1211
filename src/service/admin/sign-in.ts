import { createHash, randomBytes } from 'node:crypto';

/** Milliseconds. */
export const linkLife = 600_000;
export const sessionLife = 43_200_000;

/** Cannot be forged, because it is hashed with the rest of the token. */
const ownerMark = 'all.';

/** 192 bits, for a link or a cookie; the token of an owner who sees all projects is marked. */
export const newToken = (isOwner: boolean): string =>
  (isOwner ? ownerMark : '') + randomBytes(24).toString('base64url');

export const isOwnerToken = (token: string): boolean => token.startsWith(ownerMark);

/** Tokens are only stored hashed. */
export const hashToken = (token: string): Uint8Array => createHash('sha256').update(token).digest();
