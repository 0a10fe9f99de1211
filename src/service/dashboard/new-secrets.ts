import type { Encryption } from '../encryption.js';
import { type BrowserRequest, cookieOf } from './cookie.js';
import type { Origin } from './origin.js';
import { linkTo } from './page.js';

/** Seconds between a form and the page after it, including a wait for the rate limit. */
const life = 60;

/**
 * Carries the secret of a new key to the page that shows it, in an encrypted cookie of that page which only its
 * session can use. Any instance can read it, nothing is stored, and reading removes it.
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
    /** Null if there is none, or it belongs to another session. */
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
