import { isLoopback } from '../../../contract/index.js';
import { systemClock } from '../../clock.js';
import { systemRandom } from '../../random.js';
import { emailRoute } from '../carrier.js';
import { checkGateway } from '../http/check-gateway.js';
import { isGateway } from '../http/gateway-route.js';
import { checkRoute } from '../smpp/check-route.js';
import { checkRelay } from '../smtp/check-relay.js';
import type { CarrierCheck, ConfigurationSource } from './configuration.js';
import { readConfiguration } from './read-configuration.js';
import { withTlsAdvice } from './tls-problems.js';

/** Milliseconds that a carrier has for a login. */
const checkMs = 10_000;

/**
 * What is usable and should not stay as it is: connections that are not encrypted, and secrets that others can read.
 * Throws ConfigurationError.
 */
export function carrierWarnings(source: ConfigurationSource): string[] {
  const warnings: string[] = [];
  const warn = (warning: string) => warnings.push(warning);
  const { sms, email } = readConfiguration({ publicUrl: 'https://localhost', ...source, warn });
  const plain = (typeof sms === 'object' ? sms.routes : []).flatMap((route) => {
    if (isGateway(route))
      return [...new Set([route.url, route.check?.url ?? route.url])]
        .filter((url) => url.protocol === 'http:' && !isHere(url))
        .map((url) => `${route.name} (${url.origin})`);
    return route.tls || isHere(route) ? [] : [`${route.name} (${addressOf('smpp', route)})`];
  });
  if (typeof email === 'object' && email.tls === 'off' && !isHere(email))
    plain.push(`email (${addressOf('smtp', email)})`);
  if (plain.length > 0)
    warn(
      `Not encrypted: ${plain.join(', ')}. Passwords, addresses and texts cross the network as plain text, unless it is a VPN.`,
    );
  return warnings;
}

const isHere = ({ host, hostname = host }: { host: string; hostname?: string }) =>
  isLoopback((hostname === '::1' ? '[::1]' : hostname).toLowerCase());

/** Connects to every carrier of a configuration at once, and logs in. Sends nothing. Throws ConfigurationError. */
export function checkCarriers(source: ConfigurationSource): Promise<CarrierCheck>[] {
  // The public URL is not used, because nothing is sent.
  const { sms, email } = readConfiguration({ publicUrl: 'https://localhost', ...source });
  const tools = { clock: systemClock, random: systemRandom };
  const checks: Promise<CarrierCheck>[] = (typeof sms === 'object' ? sms.routes : []).map((route) => {
    if (isGateway(route)) {
      const checking = checkGateway(route, systemClock, checkMs);
      return checkOf(route.name, route.url.origin, checking, route.check !== null);
    }
    const address = addressOf(route.tls ? 'smpp+tls' : 'smpp', route);
    return checkOf(route.name, address, checkRoute(route, tools, checkMs));
  });
  if (typeof email === 'object') {
    const address = addressOf(email.tls === 'implicit' ? 'smtps' : 'smtp', email);
    checks.push(checkOf(emailRoute, address, checkRelay(email, systemClock, checkMs)));
  }
  return checks;
}

export function addressOf(protocol: string, { host, port }: { host: string; port: number }): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function checkOf(
  carrier: string,
  address: string,
  checking: Promise<string | null>,
  isLoginChecked = true,
): Promise<CarrierCheck> {
  const found = await checking;
  const problem = found === null ? null : await withTlsAdvice(found, address);
  return { carrier, address, status: problem === null ? 'ok' : 'failed', problem, isLoginChecked };
}
