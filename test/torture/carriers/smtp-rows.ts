import { careless } from '../../support/carrier-services.js';
import { seededRandom } from '../../support/random.js';
import { groupOf, type Play } from '../row.js';
import { gameRow, playGames } from './games.js';
import { playKills, requestsFor } from './kills.js';
import { MailRelay } from './mail-relay.js';
import { type CarrierKills, killRows } from './smpp-rows.js';
import { playMails, playSmtpChaos } from './smtp-chaos.js';

const connections = 4;

async function playSmtpKills({ seed, sends, kills, service, signal = 'SIGKILL' }: CarrierKills) {
  const random = seededRandom(seed);
  const relay = new MailRelay({ random, connections, isPipelining: random() < 0.5 });
  const recipients = Array.from({ length: sends }, (_, index) => `p${index}@example.com`);
  return playKills({
    seed,
    kills,
    signal,
    service,
    peers: [relay],
    configuration: () => ({ email: relay.configuration, sms: 'off' }),
    wanted: requestsFor('email', recipients, (index) => ({
      subject: 'Тавтай морил',
      text: 'Сайн уу. '.repeat(index % 3 === 0 ? 3_000 : 10),
    })),
  });
}

const mails = { mails: 4, connections: 2 };

/** A mail with a text of so many bytes, the third of a batch, cut after every so many of them. */
function cutsInMail(bytes: number, every: number, broken?: { keepsHalves: true }): Play {
  const batch = { ...mails, text: 'a '.repeat(bytes / 2) };
  return playGames(
    async () => Math.ceil((await playMails({}, batch)).longest / every),
    'cuts',
    async (_, index) => {
      const relay = { ...broken, cutAtByte: { mail: 2, byte: 1 + index * every } };
      return {
        unknown: (await playMails(relay, batch, broken === undefined ? {} : careless)).unknown,
        most: 1,
      };
    },
  );
}

export const smtp = groupOf(
  'smtp',
  {
    full: { sends: 10_000, kills: 60, games: 1_000, bytes: 60_000 },
    small: { sends: 200, kills: 2, games: 2, bytes: 100 },
  },
  (sizes) => [
    ...killRows('SMTP', sizes, playSmtpKills, connections),
    gameRow('a relay that answers anything', (doubles, isControl) =>
      playGames(
        () => (isControl ? 4 : sizes.games),
        'batches',
        async (seed, index) => {
          const { sent } = await playSmtpChaos(seed * 1_000 + index, doubles);
          if (sent === 0) throw new Error('nothing was sent');
          return { unknown: 0, most: 0 };
        },
        isControl,
      ),
    ),
    gameRow('a connection over SMTP that is cut at every reply', (doubles, isControl) => {
      const batch = { ...mails, text: 'Сайн уу' };
      const cutsOf = async (isPipelining: boolean) => 1 + (await playMails({ isPipelining }, batch)).replies;
      let pipelined = 0;
      return playGames(
        async () => {
          pipelined = await cutsOf(true);
          return pipelined + (await cutsOf(false));
        },
        'cuts',
        async (_, index) => {
          const isPipelining = index < pipelined;
          const cutAtReply = isPipelining ? index : index - pipelined;
          const { unknown } = await playMails({ isPipelining, cutAtReply }, batch, doubles);
          return { unknown, most: cutAtReply === 0 ? 0 : isControl ? mails.mails : 1 };
        },
        isControl,
      );
    }),
    {
      name: 'a connection over SMTP that is cut at every 100th byte of a mail',
      play: cutsInMail(sizes.bytes, 100),
      controls: [
        {
          name: 'a relay that keeps a mail without its final dot, and a carrier that sends it again',
          play: cutsInMail(500, 500, { keepsHalves: true }),
        },
      ],
    },
  ],
);
