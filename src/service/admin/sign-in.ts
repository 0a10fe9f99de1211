import { createHash, randomBytes } from 'node:crypto';

/** Milliseconds. */
export const linkLife = 600_000;
export const sessionLife = 43_200_000;

/** 192 bits, for a link or a cookie. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** The only form in which a token is stored. */
export const hashToken = (token: string): Uint8Array => createHash('sha256').update(token).digest();
