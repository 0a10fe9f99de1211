import type { Carrier, SubmitResult } from '../../../src/service/carriers/carrier.js';
import type { CoreDoubles } from '../../../src/service/core.js';
import { seededRandom } from '../../support/random.js';
import { engines, withEngine } from '../engines.js';
import { groupOf, type Played, type Row } from '../row.js';
import {
  relayTrouble,
  replies,
  smscTrouble,
  statuses,
  type Trouble,
  type TroubledPeer,
  troubledRelay,
  troubledSmsc,
  whoms,
} from './peers.js';
import { playLane } from './play.js';

/** Games at once: most of their time they wait. */
const atOnce = 4;
/** Milliseconds until a control is found out: what waits for the end of its pause waits for minutes. */
const shortPatience = 2_000;

interface Game {
  trouble: Trouble;
  peer(): TroubledPeer;
}

const carriers: Readonly<Record<string, readonly Game[]>> = {
  'an SMSC': whoms.flatMap((whom) =>
    statuses.map((status): Game => {
      const trouble = smscTrouble(whom, status);
      return { trouble, peer: () => troubledSmsc(trouble, status) };
    }),
  ),
  'a relay': whoms.flatMap((whom) =>
    replies
      // At MAIL FROM nobody knows the recipient.
      .filter(({ at }) => whom !== 'one recipient' || at !== 'MAIL')
      .map((reply): Game => {
        const trouble = relayTrouble(whom, reply);
        return { trouble, peer: () => troubledRelay(trouble, reply) };
      }),
  ),
};

/** Doubles of carriers whose answers are changed. */
const answering = (change: (result: SubmitResult) => SubmitResult): CoreDoubles => ({
  carriers: (all) =>
    all.map((carrier): Carrier => {
      const { reserve } = carrier;
      if (reserve === undefined) return carrier;
      return {
        ...carrier,
        async reserve(route, isSingle) {
          const room = await reserve(route, isSingle);
          return room && { ...room, submit: async (...given) => change(await room.submit(...given)) };
        },
      };
    }),
});
const pausing = answering((result) => (result.kind === 'later' ? { ...result, scope: 'lane' } : result));
const mute = answering((result) => (result.kind === 'later' ? { ...result, code: '', words: '' } : result));

/** Whoever has a trouble, with each answer that may pass. */
export const lanes = groupOf(
  'lanes',
  { full: { troubles: 40, patience: 2_000 }, small: { troubles: 2, patience: 15_000 } },
  ({ troubles, patience }) => {
    const play = async (
      seed: number,
      engine: (typeof engines)[number],
      games: readonly Game[],
      doubles: CoreDoubles | null = null,
    ): Promise<Played> => {
      const found = { late: 0, lost: 0, twice: 0, untrue: 0, credits: 0 };
      const problems: string[] = [];
      let worst = 0;
      const left = games.values();
      await withEngine(engine, async (newData) => {
        const player = async () => {
          for (const { trouble, peer } of left) {
            const options =
              doubles === null ? { patience, doubles: {} } : { patience: shortPatience, doubles };
            const played = await playLane(await newData(), trouble, peer(), options);
            for (const name of Object.keys(found) as (keyof typeof found)[]) found[name] += played[name];
            worst = Math.max(worst, played.worst);
            const what = `${trouble.whom}, ${trouble.code}`;
            if (played.late > 0) problems.push(`${what}: ${played.late} late, ${played.worst.toFixed(0)} ms`);
            problems.push(...played.log.map((line) => `${what}: ${line}`));
          }
        };
        await Promise.all(Array.from({ length: atOnce }, player));
      });
      const { late, lost, twice, untrue, credits } = found;
      return {
        measured: `${games.length} games, seed ${seed}, 2 instances; others waited ${worst.toFixed(0)} ms at most`,
        found: `${late} late, ${lost} lost, ${twice} twice, ${untrue} untrue, ${credits} credits off${problems.map((each) => `; ${each}`).join('')}`,
        wrong: late + lost + twice + untrue + credits + problems.length,
      };
    };
    /** All of them before any comes again. */
    const chosen = (seed: number, games: readonly Game[], count: number) => {
      const random = seededRandom(seed);
      const ranked = games
        .map((game) => ({ game, rank: random() }))
        .sort((one, other) => one.rank - other.rank);
      return Array.from(
        { length: count },
        (_, index) => (ranked[index % ranked.length] as { game: Game }).game,
      );
    };
    return Object.entries(carriers).flatMap(([carrier, games]) => {
      const ofSender = games.filter(
        ({ trouble: { whom, isOfRecipient } }) => whom === 'one sender' && !isOfRecipient,
      );
      return engines.map(
        (engine): Row => ({
          name: `${carrier} that puts off one recipient, one sender, everybody, ${engine}`,
          ...(engine === 'PostgreSQL' && {
            provedBy: 'the row of SQLite: what keeps lanes is above the engines',
          }),
          play: (seed) => play(seed, engine, chosen(seed, games, troubles)),
          controls: [
            {
              name: 'a lane that pauses at each of these answers',
              play: (seed) => play(seed, engine, chosen(seed, ofSender, 1), pausing),
            },
            {
              name: 'a carrier whose codes are not kept',
              play: (seed) => play(seed, engine, chosen(seed, ofSender, 1), mute),
            },
          ],
        }),
      );
    });
  },
);
