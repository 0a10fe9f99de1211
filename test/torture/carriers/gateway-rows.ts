import { seededRandom } from '../../support/random.js';
import { groupOf, type Play, type Row } from '../row.js';
import { GatewayPeer, type Keys } from './gateway-peer.js';
import { playKills, requestsFor } from './kills.js';
import { type CarrierKills, killRows, killsPlayed } from './smpp-rows.js';

const concurrent = 10;

interface GatewayKills extends CarrierKills {
  keys?: Keys;
  alsoRefused?: string;
}

function playGatewayKills({ seed, sends, kills, service, signal = 'SIGKILL', ...rest }: GatewayKills) {
  const peer = new GatewayPeer({ random: seededRandom(seed), concurrent, ...rest });
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

function keyedRow(sizes: { sends: number; kills: number }): Row {
  const few = { sends: Math.min(sizes.sends, 400), kills: Math.min(sizes.kills, 4) };
  const kill =
    (options: Partial<GatewayKills>): Play =>
    async (seed) =>
      killsPlayed(
        await playGatewayKills({ seed, ...few, service: 'urtuu serve', keys: 'known', ...options }),
        0,
      );
  return {
    name: 'kill -9 of urtuu serve in the middle of sends over a gateway with keys: nothing unknown',
    play: kill(sizes),
    controls: [
      { name: 'a carrier that repeats without a key', play: kill({ keys: 'ignored' }) },
      {
        name: 'a carrier that takes a 200 that nobody described for a refusal',
        play: kill({ alsoRefused: '99' }),
      },
      {
        name: 'a carrier that believes what a repeat is answered',
        play: kill({ service: 'believes_what_a_repeat_is_answered' }),
      },
    ],
  };
}

export const gateway = groupOf(
  'gateway',
  { full: { sends: 10_000, kills: 60 }, small: { sends: 200, kills: 2 } },
  (sizes) => [...killRows('a gateway', sizes, playGatewayKills, concurrent), keyedRow(sizes)],
);
