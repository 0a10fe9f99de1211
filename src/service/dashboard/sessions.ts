import { hashToken, type Rights, rightsOf } from '../admin/sign-in.js';
import type { Administration } from '../administration.js';
import type { Store } from '../storage/store.js';
import { type BrowserRequest, cookieOf } from './cookie.js';
import type { Origin } from './origin.js';
import { root } from './page.js';

export interface Session extends Rights {
  /** The hash of its cookie, in hex. */
  name: string;
  /** The one that it shows: of its link, or, of an owner, the one chosen last. */
  projectId: string;
}

/** Cookies of sessions. What a session may do stands in its token, as in that of its link: its hash stands for the whole. */
export function newSessions(
  store: Store,
  administration: Pick<Administration, 'project'>,
  { cookie, isSecure }: Origin,
) {
  const choice = `${cookie}_project`;
  const written = (name: string, value: string, seconds: number) =>
    `${name}=${value}; Path=${root}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    cookie: (token: string, seconds: number): string => written(cookie, token, seconds),
    choiceOf: (projectId: string, seconds: number): string => written(choice, projectId, seconds),
    async of(request: BrowserRequest): Promise<Session | null> {
      const token = cookieOf(request, cookie);
      if (token === undefined) return null;
      const hash = hashToken(token);
      const ofLink = await store.findSession(hash);
      if (ofLink === null) return null;
      const rights = rightsOf(token);
      const chosen = rights.isOwner ? cookieOf(request, choice) : undefined;
      const isThere = chosen !== undefined && (await administration.project(chosen)) !== null;
      const projectId = isThere ? chosen : ofLink;
      return { name: Buffer.from(hash).toString('hex'), projectId, ...rights };
    },
  };
}
