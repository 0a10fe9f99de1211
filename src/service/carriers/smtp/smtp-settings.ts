/** A mail relay, with its secrets. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** `implicit`: from the first byte; `required`: by STARTTLS; `off`: none. Certificates are verified. */
  tls: 'implicit' | 'required' | 'off';
  login: { user: string; password: string } | null;
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
