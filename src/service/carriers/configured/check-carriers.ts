import { systemClock } from '../../clock.js';
import { systemRandom } from '../../random.js';
import { emailRoute } from '../carrier.js';
import { checkRoute } from '../smpp/check-route.js';
import { checkRelay } from '../smtp/check-relay.js';
import type { CarrierCheck, CarrierConfiguration, ConfigurationSource } from './configuration.js';
import { readConfiguration } from './read-configuration.js';

/** Connects to every carrier of a configuration, logs in and sends nothing. Throws ConfigurationError at once. */
export function checkCarriers(source: ConfigurationSource): AsyncIterable<CarrierCheck> {
  return checksOf(readConfiguration(source));
}

async function* checksOf({ sms, email }: CarrierConfiguration): AsyncGenerator<CarrierCheck> {
  const tools = { clock: systemClock, random: systemRandom };
  for (const route of typeof sms === 'object' ? sms.routes : []) {
    const address = addressOf(route.tls ? 'smpp+tls' : 'smpp', route);
    yield checkOf(route.name, address, await checkRoute(route, tools));
  }
  if (typeof email === 'object') {
    const address = addressOf(email.tls === 'implicit' ? 'smtps' : 'smtp', email);
    yield checkOf(emailRoute, address, await checkRelay(email, systemClock));
  }
}

function addressOf(protocol: string, { host, port }: { host: string; port: number }): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function checkOf(carrier: string, address: string, problem: string | null): CarrierCheck {
  return { carrier, address, status: problem === null ? 'ok' : 'failed', problem };
}
