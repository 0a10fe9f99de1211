import type { AccessToken } from './access-token.js';

/** By a password, or by XOAUTH2. */
export type Login = { user: string } & ({ password: string } | { token: AccessToken });

/** A mail relay, with its secrets. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** `implicit`: from the first byte; `required`: by STARTTLS; `off`: none. Certificates are verified. */
  tls: 'implicit' | 'required' | 'off';
  login: Login | null;
  /** What the service calls itself in EHLO: relays refuse the address of a container. */
  name: string;
  /** The sender for projects without their own domain. */
  from: string;
  /** The domain for bounces; null to send them to the sender. */
  bounceDomain: string | null;
  /** 1 to 10. */
  connections: number;
  /** Mails a second, of all instances together; null without a limit. */
  perSecond: number | null;
  /** Mails in any 24 hours, of all instances together; null without a limit. */
  perDay: number | null;
}
