import { seededRandom } from '../../support/random.js';
import { groupOf } from '../row.js';
import { GatewayPeer } from './gateway-peer.js';
import { playKills, requestsFor } from './kills.js';
import { type CarrierKills, killRows } from './smpp-rows.js';

const concurrent = 10;

function playGatewayKills({ seed, sends, kills, service, signal = 'SIGKILL' }: CarrierKills) {
  const peer = new GatewayPeer({ random: seededRandom(seed), concurrent });
  const recipients = Array.from({ length: sends }, (_, index) => `99${String(100_000 + index)}`);
  return playKills({
    seed,
    kills,
    signal,
    service,
    peers: [peer],
    configuration: () => ({ email: 'off', sms: { routes: [peer.route] } }),
    wanted: requestsFor('sms', recipients, () => ({ text: 'Сайн уу & hi' })),
  });
}

export const gateway = groupOf(
  'gateway',
  { full: { sends: 10_000, kills: 60 }, small: { sends: 200, kills: 2 } },
  (sizes) => killRows('a gateway', sizes, playGatewayKills, concurrent),
);
