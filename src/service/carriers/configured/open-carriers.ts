import type { Channel } from '../../../contract/index.js';
import type { Store } from '../../storage/store.js';
import { simulatedRoutes } from '../simulated/routes.js';
import type { CarrierConfiguration, ConfigurationSource } from './configuration.js';
import type { CarrierParts, Carriers } from './create-carriers.js';

export interface OpenedCarriers extends Pick<Carriers, 'carriers' | 'routesOf' | 'operators'> {
  /** Channels that refuse every send, with the reason. */
  closed: ReadonlyMap<Channel, string>;
  channels: Record<Channel, 'simulated' | 'off' | 'real'>;
}

export interface OpenCarriersParts extends Omit<CarrierParts, 'configuration' | 'simulatedRoutes' | 'store'> {
  /** If absent, everything is simulated; data that was served with a real carrier sends nothing. */
  configuration: CarrierConfiguration | undefined;
  store: Pick<Store, 'recordLanes' | 'normalizeReceiptIds'> & CarrierParts['store'];
}

const needsConfiguration =
  'This data was served with carriers: start the service with their configuration (--config)';

/** Opens the carriers of a service and records them in its store before anything is sent. Throws ConfigurationError. */
export async function openCarriers(parts: OpenCarriersParts): Promise<OpenedCarriers> {
  const { configuration, store, ...given } = parts;
  if (configuration === undefined) {
    const isReal = given.recordedLanes.length > 0;
    const closed = isReal ? (['sms', 'email'] as const) : [];
    const channel = isReal ? 'off' : 'simulated';
    return {
      channels: { sms: channel, email: channel },
      carriers: isReal ? [] : [given.simulated],
      routesOf: simulatedRoutes,
      operators: null,
      closed: new Map(closed.map((channel) => [channel, needsConfiguration])),
    };
  }
  // Loaded late: most services need no carrier.
  const { createCarriers } = await import('./create-carriers.js');
  const created = await createCarriers({ ...given, store, configuration, simulatedRoutes });
  await store.recordLanes(created.realLanes);
  if (created.smppLanes.length > 0) await store.normalizeReceiptIds(created.smppLanes);
  const names = { sms: 'SMS', email: 'Email' };
  const closed = created.off.map(
    (channel) => [channel, `${names[channel]} is off in the configuration of this service`] as const,
  );
  const stateOf = (channel: Channel) => {
    const configured = configuration[channel];
    return typeof configured === 'object' ? 'real' : configured;
  };
  return {
    ...created,
    closed: new Map(closed),
    channels: { sms: stateOf('sms'), email: stateOf('email') },
  };
}

export async function configurationOf(source: ConfigurationSource): Promise<CarrierConfiguration> {
  // Loaded late: most services need none.
  const { readConfiguration } = await import('./read-configuration.js');
  return readConfiguration(source);
}
