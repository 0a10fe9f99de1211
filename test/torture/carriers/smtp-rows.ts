import { seededRandom } from '../../support/random.js';
import { groupOf } from '../row.js';
import { playKills, requestsFor } from './kills.js';
import { MailRelay } from './mail-relay.js';
import { type CarrierKills, killRows } from './smpp-rows.js';

const connections = 4;

async function playSmtpKills({ seed, sends, kills, service }: CarrierKills) {
  const random = seededRandom(seed);
  const relay = new MailRelay({ random, connections, isPipelining: random() < 0.5 });
  const recipients = Array.from({ length: sends }, (_, index) => `p${index}@example.com`);
  return playKills({
    seed,
    kills,
    service,
    peers: [relay],
    configuration: () => ({ email: relay.configuration, sms: 'off' }),
    wanted: requestsFor('email', recipients, (index) => ({
      subject: 'Тавтай морил',
      text: 'Сайн уу. '.repeat(index % 3 === 0 ? 3_000 : 10),
    })),
  });
}

export const smtp = groupOf(
  'smtp',
  { full: { sends: 10_000, kills: 60 }, small: { sends: 300, kills: 3 } },
  (sizes) => killRows('SMTP', sizes, playSmtpKills, connections),
);
