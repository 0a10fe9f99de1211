import { systemClock } from '../../clock.js';
import { systemRandom } from '../../random.js';
import { checkRoute } from '../smpp/check-route.js';
import type { CarrierCheck, CarrierConfiguration, ConfigurationSource } from './configuration.js';
import { readConfiguration } from './read-configuration.js';

/** Connects to every carrier of a configuration, logs in and sends nothing. Throws ConfigurationError at once. */
export function checkCarriers(source: ConfigurationSource): AsyncIterable<CarrierCheck> {
  return checksOf(readConfiguration(source));
}

async function* checksOf({ sms }: CarrierConfiguration): AsyncGenerator<CarrierCheck> {
  if (typeof sms === 'string') return;
  const tools = { clock: systemClock, random: systemRandom };
  for (const route of sms.routes) {
    const { name, host, port, tls } = route;
    const problem = await checkRoute(route, tools);
    const address = `${tls ? 'smpp+tls' : 'smpp'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    yield { carrier: name, address, status: problem === null ? 'ok' : 'failed', problem };
  }
}
