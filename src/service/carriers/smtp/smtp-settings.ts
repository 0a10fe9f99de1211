/** A relay that takes mail, with its secrets. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** `implicit`: from the first byte; `required`: by STARTTLS; `off`: none. Certificates are verified. */
  tls: 'implicit' | 'required' | 'off';
  login: { user: string; password: string } | null;
  /** The sender of projects without their own domain. */
  from: string;
  /** Bounces go to addresses in it; null: to the sender. */
  bounceDomain: string | null;
  /** 1 to 10. */
  connections: number;
}
