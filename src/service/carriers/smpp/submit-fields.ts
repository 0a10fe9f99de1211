import type { Pdu } from './codec/pdu.js';
import type { SmppRoute } from './route-settings.js';

const countryCode = '976';
const forFinalReceipts = 1;

/** The fields of a submit_sm that depend on the route and the recipient. */
export function routeFields(route: SmppRoute, to: string): Pdu['fields'] {
  return {
    ...(route.serviceType === '' ? {} : { service_type: route.serviceType }),
    source_addr_ton: route.sourceTon,
    source_addr_npi: route.sourceNpi,
    source_addr: route.source,
    dest_addr_ton: route.destTon,
    dest_addr_npi: route.destNpi,
    destination_addr: route.numberForm === 'international' ? countryCode + to : to,
    registered_delivery: forFinalReceipts,
  };
}

/** How long the operator keeps trying (7.1.1): the route's time, or what is left of a code's life if that is less. */
export function validityOf(route: SmppRoute, lifeMs: number | null, now: number): string {
  const milliseconds = Math.min(route.validityMs, lifeMs ?? Number.POSITIVE_INFINITY);
  const seconds = Math.max(1, Math.floor(milliseconds / 1_000));
  if (route.validityFormat === 'absolute') {
    const end = new Date(now + seconds * 1_000).toISOString();
    return `${end.slice(2, 19).replace(/[^0-9]/g, '')}000+`;
  }
  const days = Math.floor(seconds / 86_400);
  const rest = seconds % 86_400;
  const time = [days, Math.floor(rest / 3_600), Math.floor(rest / 60) % 60, rest % 60];
  return `0000${time.map((part) => String(part).padStart(2, '0')).join('')}000R`;
}
