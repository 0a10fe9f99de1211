/** Sign-ins to the dashboard: links that open one session each, and sessions, both by the SHA-256 of their token. */
export interface SignIns {
  addSignInLink(link: { hash: Uint8Array; projectId: string; lifeMs: number }): Promise<void>;
  /** Uses up a link and opens a session of its project, whose id it returns; null for a link that is used or over. */
  openSession(link: Uint8Array, session: { hash: Uint8Array; lifeMs: number }): Promise<string | null>;
  /** The project of a session; null for one that is unknown or over. */
  findSession(hash: Uint8Array): Promise<string | null>;
  endSession(hash: Uint8Array): Promise<void>;
  /** Where people open the dashboard: the newest instance that serves one. */
  recordDashboard(url: string): Promise<void>;
  dashboardUrl(): Promise<string | null>;
}
