import type { Encryption } from '../encryption.js';
import { type BrowserRequest, cookieOf } from './cookie.js';
import type { Origin } from './origin.js';
import { linkTo } from './page.js';

/** Seconds between a form and the page after it, a wait for a free rate included. */
const life = 60;

/**
 * The secrets of new keys on their way to the page that shows them. A cookie of that page carries one, encrypted, for
 * nobody but its session: any instance reads it, nothing is stored, and the look takes it away.
 */
export function newSecrets(
  { cookie, isSecure }: Origin,
  encryption: Pick<Encryption, 'encrypt' | 'decrypt'>,
) {
  const nameOf = (id: string) => `${cookie}_key_${id}`;
  const written = (id: string, value: string, seconds: number) =>
    `${nameOf(id)}=${value}; Path=${linkTo('/keys')}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    cookieOf: (session: string, id: string, secret: string): string =>
      written(id, Buffer.from(encryption.encrypt(`${session} ${secret}`)).toString('base64url'), life),
    /** Null where there is none, or that of another session. */
    read(request: BrowserRequest, session: string, id: string): string | null {
      const value = cookieOf(request, nameOf(id));
      if (value === undefined) return null;
      try {
        const [owner, secret = null] = encryption.decrypt(Buffer.from(value, 'base64url')).split(' ');
        return owner === session ? secret : null;
      } catch {
        return null;
      }
    },
    cleared: (id: string): string => written(id, '', 0),
  };
}
