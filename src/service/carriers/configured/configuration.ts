import { type GatewayRoute, isGateway } from '../http/gateway-route.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import type { SmtpSettings } from '../smtp/smtp-settings.js';

/** A channel without a real carrier: it is simulated, or every send is refused. */
export type WithoutCarrier = 'simulated' | 'off';

export interface SmsRoutes {
  /** In the order of the file. */
  routes: readonly (SmppRoute | GatewayRoute)[];
}

/** The carriers of a service, with their secrets. */
export interface CarrierConfiguration {
  sms: WithoutCarrier | SmsRoutes;
  email: WithoutCarrier | SmtpSettings;
}

/** Whether any messages leave this machine. */
export function leavesMachine({ sms, email }: CarrierConfiguration): boolean {
  return [sms, email].some((channel) => typeof channel === 'object');
}

export function secretsOf({ sms, email }: CarrierConfiguration): string[] {
  const routes = typeof sms === 'object' ? sms.routes : [];
  const passwords = routes.flatMap((route) => (isGateway(route) ? route.secrets : [route.password]));
  const login = typeof email === 'object' ? email.login : null;
  return login !== null && 'password' in login ? [...passwords, login.password] : passwords;
}

/** Whether a carrier can be used. */
export interface CarrierCheck {
  /** The name of the route, or `email`. */
  carrier: string;
  address: string;
  status: 'ok' | 'failed';
  problem: string | null;
  /** False for a gateway that only a message can try. */
  isLoginChecked: boolean;
}

/** The outcome of a trial. */
export interface TrialAnswer {
  /** The rule of the route that matches the answer, or why none could. */
  rule:
    | 'accepted'
    | 'partly_accepted'
    | 'refused'
    | 'unknown_recipient'
    | 'later'
    | 'account'
    | 'not_sent'
    | 'unknown';
  status: number | null;
  /** Of the gateway or the operator. */
  ids: string[];
  reason: string;
  /** In words, of a gateway the first 4 KB without secrets. */
  answer: string;
}

/** One message over a route, to be shown to the owner before it is sent. */
export interface RouteTrial {
  /** The request as it is sent, without secrets. */
  request: string;
  send(): Promise<TrialAnswer>;
}

/** A file with a configuration, and the environment with its secrets. */
export interface ConfigurationSource {
  /** Absolute path. */
  file: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The public address of this service. */
  publicUrl?: string | undefined;
  /** Called for what is usable and should not stay as it is. */
  warn?(warning: string): void;
}
