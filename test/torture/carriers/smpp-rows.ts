import type { CoreDoubles } from '../../../src/service/core.js';
import { seededRandom } from '../../support/random.js';
import { groupOf, type Play, type Played, type Row } from '../row.js';
import { Centre } from './centre.js';
import { joinsByNumber, playForeignReceipts } from './foreign-receipts.js';
import { gameRow, playGames } from './games.js';
import { type KillFindings, type KillGame, playKills, requestsFor } from './kills.js';
import { playSmppChaos } from './smpp-chaos.js';
import { playSmppCut, window } from './smpp-cuts.js';

/** Of one segment, of two in GSM 7-bit, and of two in UCS-2. */
const texts = ['Hello', 'a'.repeat(200), 'Сайн байна уу'.padEnd(100, '.')];

export interface CarrierKills {
  seed: number;
  sends: number;
  kills: number;
  service: KillGame['service'];
  signal?: KillGame['signal'];
}

/** Two operators, of which one sends receipts; half of the messages go to each. */
async function playSmppKills({ seed, sends, kills, service, signal = 'SIGKILL' }: CarrierKills) {
  const random = seededRandom(seed);
  const window = 10;
  const peers = [
    new Centre({
      name: 'Mobicom',
      prefix: '99',
      random,
      window,
      receipts: random() < 0.5 ? 'same' : 'hex_to_dec',
      bind: random() < 0.5 ? 'transceiver' : 'transmitter+receiver',
    }),
    new Centre({ name: 'Unitel', prefix: '88', random, window, receipts: 'none', bind: 'transceiver' }),
  ];
  const recipients = Array.from(
    { length: sends },
    (_, index) => `${index % 2 === 0 ? '99' : '88'}${String(100_000 + index)}`,
  );
  return playKills({
    seed,
    kills,
    signal,
    service,
    peers,
    configuration: () => ({ email: 'off', sms: { routes: peers.map(({ route }) => route) } }),
    wanted: requestsFor('sms', recipients, (index) => ({ text: texts[index % texts.length] })),
  });
}

/** `most`: unknown messages that may be. */
export function killsPlayed(findings: KillFindings, most: number): Played {
  const { kills, messages, twice, lost, untrue, unknown, credits, examples } = findings;
  return {
    measured: `${kills} kills, ${messages} messages`,
    found: `${twice} twice, ${lost} lost, ${untrue} untrue, ${credits} credits off, ${unknown} unknown (at most ${most})${examples
      .slice(0, 3)
      .map((each) => `; ${each}`)
      .join('')}`,
    wrong: twice + lost + untrue + credits + Math.max(0, unknown - most),
  };
}

/** `most`: unknown messages that each kill may leave. */
export function killRows(
  name: string,
  sizes: { sends: number; kills: number },
  play: (options: CarrierKills) => Promise<KillFindings>,
  most: number,
): Row[] {
  // A row and the control of another may want the same game: it is played once.
  const played = new Map<string, Promise<KillFindings>>();
  const once = (options: CarrierKills): Promise<KillFindings> => {
    const name = JSON.stringify(options);
    const findings = played.get(name) ?? play(options);
    played.set(name, findings);
    return findings;
  };
  const kill =
    ({ sends, kills, ...options }: Omit<CarrierKills, 'seed'>): Play =>
    async (seed) =>
      killsPlayed(await once({ seed, sends, kills, ...options }), most * kills);
  const few = { sends: Math.min(sizes.sends, 400), kills: Math.min(sizes.kills, 4) };
  return [
    {
      name: `kill -9 of urtuu serve in the middle of sends over ${name}`,
      play: kill({ ...sizes, service: 'urtuu serve' }),
      controls: [
        {
          name: 'a service that marks after the bytes',
          play: kill({ ...few, service: 'marks_after_the_bytes' }),
        },
        {
          name: 'a service that sends again what is unknown',
          play: kill({ ...few, service: 'sends_again_what_is_unknown' }),
        },
      ],
    },
    {
      name: `SIGTERM of urtuu serve in the middle of sends over ${name}: nothing unknown`,
      play: async (seed: number) =>
        killsPlayed(await play({ seed, ...few, service: 'urtuu serve', signal: 'SIGTERM' }), 0),
      controls: [
        {
          name: 'SIGKILL',
          play: async (seed: number) => killsPlayed(await once({ seed, ...few, service: 'urtuu serve' }), 0),
        },
      ],
    },
    {
      name: `sends over ${name} without a fault`,
      provedBy: `SIGTERM of urtuu serve in the middle of sends over ${name}: nothing unknown`,
      play: kill({ ...sizes, kills: 0, service: 'urtuu serve' }),
      controls: [
        {
          name: 'a kill',
          play: async (seed: number) => killsPlayed(await once({ seed, ...few, service: 'urtuu serve' }), 0),
        },
      ],
    },
  ];
}

/** `doubles`: what joins them. */
const foreignReceipts =
  (games: number, doubles?: CoreDoubles): Play =>
  async (seed) => {
    let inDoubt = 0;
    const play = playGames(
      () => games,
      'games',
      async (seed, index) => {
        inDoubt += await playForeignReceipts(seed * 1_000 + index, doubles);
        return { unknown: 0, most: 0 };
      },
      doubles !== undefined,
    );
    const played = await play(seed);
    if (inDoubt === 0 && played.wrong === 0) throw new Error('nothing was in doubt');
    return { ...played, measured: `${played.measured}, ${inDoubt} messages in doubt` };
  };

/** Two segments. */
const twoSegments = 'a'.repeat(200);

export const smpp = groupOf(
  'smpp',
  {
    full: { sends: 10_000, kills: 60, games: 1_000, messages: 40 },
    small: { sends: 200, kills: 2, games: 2, messages: 2 },
  },
  (sizes) => [
    ...killRows('SMPP', sizes, playSmppKills, 20),
    gameRow('operators that do anything', (doubles, isControl) =>
      playGames(
        () => (isControl ? 4 : sizes.games),
        'batches',
        async (seed, index) => {
          const { sent } = await playSmppChaos(seed * 1_000 + index, doubles);
          if (sent === 0) throw new Error('nothing was sent');
          return { unknown: 0, most: 0 };
        },
        isControl,
      ),
    ),
    {
      name: 'receipts of others to numbers with messages in doubt: other ids, times and systems',
      play: foreignReceipts(sizes.games),
      controls: [{ name: 'a join by number alone', play: foreignReceipts(4, joinsByNumber) }],
    },
    gameRow('a connection over SMPP that is cut at every PDU', (doubles, isControl) => {
      const batch = { messages: sizes.messages, text: twoSegments };
      const bindOf = (seed: number) => (seed % 2 === 0 ? 'transceiver' : 'transmitter+receiver');
      return playGames(
        async (seed) => (await playSmppCut(0, { ...batch, bind: bindOf(seed) })).points,
        'cuts',
        async (seed, index) => {
          // Before the first, without a cut, nothing is unknown.
          const { unknown } = await playSmppCut(index, { ...batch, bind: bindOf(seed) }, doubles);
          return { unknown, most: index === 0 ? 0 : isControl ? sizes.messages : window };
        },
        isControl,
      );
    }),
  ],
);
