import { whyNoDisk } from '../../support/small-disk.js';
import { groupOf, type Played } from '../row.js';
import { type Findings, wrong } from './books.js';
import { type ClocksOptions, playClocks } from './clocks.js';
import { playFullDisk } from './full-disk.js';
import { playFuzz } from './fuzz.js';
import { type KillOptions, playKills } from './kill.js';
import { playPauses } from './pause.js';
import { playResets } from './reset.js';
import { playSameKeys } from './same-key.js';
import { playOnBoundless, playStrangers } from './strangers.js';
import { playTakenData } from './taken-data.js';
import { playStops } from './terminate.js';

const books = (measured: string, findings: Findings): Played => ({
  measured,
  found: `${findings.lost} lost, ${findings.unknown} unknown, ${findings.twice} twice, ${findings.answers} other answers, ${findings.credits} credits off`,
  wrong: wrong(findings),
});

/** Milliseconds that the service asks the simulated operator about a message. */
const longestDoubt = 300_000;

/** What is proven of the service, row by row. */
export const service = groupOf(
  'service',
  {
    full: {
      customers: 48,
      clients: 100,
      keys: 1_000,
      kills: 50,
      stops: 20,
      pauses: 10,
      resets: 50,
      requests: 10_000,
      idle: 10_000,
      sockets: 20,
      patience: 1_000,
      attack: 3_000,
      rounds: 5,
      seconds: 12,
      cases: 100,
      fills: 20,
    },
    small: {
      customers: 24,
      clients: 12,
      keys: 12,
      kills: 2,
      stops: 2,
      pauses: 1,
      resets: 2,
      requests: 400,
      idle: 400,
      sockets: 20,
      patience: 5_000,
      attack: 300,
      rounds: 1,
      seconds: 6,
      cases: 6,
      fills: 1,
    },
  },
  (sizes) => {
    const sameKey = async (
      seed: number,
      size: { clients: number; keys: number },
      service: 'nothing' | 'forgets_keys',
    ) => {
      const result = await playSameKeys({ seed, ...size, service });
      const { clients, keys } = size;
      const played = books(
        `${clients} clients x ${keys} keys, 2 API keys, 2 processes: ${result.sends} sends`,
        result,
      );
      return {
        ...played,
        found: `${played.found}, ${result.unequal} keys with unequal answers`,
        wrong: played.wrong + result.unequal,
      };
    };
    const kill = async (options: Omit<KillOptions, 'customers'>) => {
      const result = await playKills({ customers: sizes.customers, ...options });
      return books(`${result.kills} kills, ${result.sends} sends, ${result.messages} messages`, result);
    };
    const stop = async (seed: number, stops: number, signal: 'SIGTERM' | 'SIGKILL') => {
      const result = await playStops({ seed, stops, signal });
      return books(
        `${stops} stops, ${result.sends} sends, the slowest stop ${result.slowestStop} ms`,
        result,
      );
    };
    const pause = async (seed: number, pauses: number, service: 'nothing' | 'forgets_submissions') => {
      const result = await playPauses({ seed, pauses, service });
      return books(`${pauses} pauses, ${result.sends} sends, 2 processes`, result);
    };
    const reset = async (seed: number, resets: number, by: Parameters<typeof playResets>[0]['reset']) => {
      const result = await playResets({ seed, resets, customers: sizes.customers, reset: by });
      return books(`${resets} resets, ${result.sends} sends, 2 processes`, result);
    };
    const fuzz = async (
      seed: number,
      requests: number,
      service: Parameters<typeof playFuzz>[0]['service'],
    ) => {
      const result = await playFuzz({ seed, requests, service });
      return {
        measured: `${result.requests} requests, ${result.accepted} of them valid`,
        found: `${result.crashed} answers of 500 and up, ${result.stored} refused but stored, ${result.failed} valid sends failed`,
        wrong: result.crashed + result.stored + result.failed,
      };
    };
    const strangers = async (play: typeof playStrangers) => {
      const { probes, slowest, unanswered, died } = await play(sizes);
      return {
        measured: `${sizes.sockets} to ${sizes.idle} connections an attack, 256 MB of heap, ${probes} requests of others`,
        found: `${died.length} times dead, ${unanswered} not answered within ${sizes.patience} ms (slowest ${slowest} ms)`,
        wrong: died.length + unanswered,
      };
    };
    const clocks = async (options: ClocksOptions) => {
      const result = await playClocks(options);
      const played = books(
        `${result.runs} runs, one in four set every second for ${options.seconds} s, ${result.sends} sends`,
        result,
      );
      return {
        ...played,
        found: `${played.found}, ${result.lockedOut} runs locked out`,
        wrong: played.wrong + result.lockedOut,
      };
    };
    const fullDisk = async (options: Parameters<typeof playFullDisk>[0]) => {
      const result = await playFullDisk(options);
      if (result.refused === 0) throw new Error('there was always room');
      const played = books(
        `${result.fills} times full, ${result.sends} sends, ${result.refused} answers of 503`,
        result,
      );
      return {
        ...played,
        found: `${played.found}; other answers of 500 and up: ${result.crashed.join(', ') || 'none'}`,
        // A doubt that outlasts its deadline ends unknown: a simulated operator without room cannot resolve it.
        wrong: played.wrong - (result.lasted > longestDoubt ? result.unknown : 0) + result.crashed.length,
      };
    };
    const takenData = async (options: Parameters<typeof playTakenData>[0]) => {
      const result = await playTakenData(options);
      const played = books(`${result.cases} times damaged, ${result.sends} sends`, result);
      return {
        ...played,
        found: `${played.found}; wrongly taken or refused: ${result.wronglyTaken.join(', ') || 'none'}`,
        wrong: played.wrong + result.wronglyTaken.length,
      };
    };
    const kills = Math.min(6, sizes.kills);

    return [
      {
        name: 'the same keys at once',
        play: (seed) => sameKey(seed, sizes, 'nothing'),
        controls: [
          {
            name: 'a service that forgets keys',
            play: (seed) => sameKey(seed, { clients: 8, keys: Math.min(20, sizes.keys) }, 'forgets_keys'),
          },
        ],
      },
      {
        name: 'kill -9 of urtuu serve under load',
        isAlwaysPlayed: true,
        play: (seed) => kill({ seed, kills: sizes.kills, service: 'urtuu serve' }),
        controls: [
          {
            name: 'a service that does not ask for the fate of a submission',
            play: (seed) => kill({ seed, kills, service: 'forgets_submissions' }),
          },
          {
            name: 'customers who repeat with a new key',
            play: (seed) => kill({ seed, kills, service: 'nothing', forgetKeys: true }),
          },
          {
            name: 'a service that answers before it stores',
            play: (seed) => kill({ seed, kills, service: 'answers_before_it_stores' }),
          },
        ],
      },
      {
        name: 'SIGTERM of urtuu serve under load',
        play: (seed) => stop(seed, sizes.stops, 'SIGTERM'),
        controls: [{ name: 'SIGKILL', play: (seed) => stop(seed, Math.min(3, sizes.stops), 'SIGKILL') }],
      },
      {
        name: 'a paused process, another that goes on',
        play: (seed) => pause(seed, sizes.pauses, 'nothing'),
        controls: [
          {
            name: 'an operator that takes submissions of the past',
            play: (seed) => pause(seed, 1, 'forgets_submissions'),
          },
        ],
      },
      {
        name: 'urtuu sandbox reset of urtuu serve under load',
        play: (seed) => reset(seed, sizes.resets, 'urtuu sandbox reset'),
        controls: [
          {
            name: 'a reset that holds nothing back',
            play: (seed) => reset(seed, Math.min(4, sizes.resets), 'resets_in_any_order'),
          },
        ],
      },
      {
        name: 'fuzzed requests',
        provedBy: 'test/service/http/fuzz.test.ts',
        play: (seed) => fuzz(seed, sizes.requests, 'nothing'),
        controls: [
          {
            name: 'a service that stores before it checks',
            play: (seed) => fuzz(seed, 1_000, 'stores_first'),
          },
          {
            name: 'a service that trusts ids',
            play: (seed) => fuzz(seed, 1_000, 'trusts_ids'),
          },
        ],
      },
      {
        name: 'strangers at the port',
        provedBy: 'test/service/http/strangers.test.ts and full.test.ts',
        isTimed: true,
        play: () => strangers(playStrangers),
        controls: [{ name: 'a service without bounds', play: () => strangers(playOnBoundless) }],
      },
      {
        name: 'a clock that is 2 days off, either way, and set every second',
        provedBy:
          'what test/service/storage/conformance has of a clock that was set back; and the row of clocks',
        play: (seed) =>
          clocks({ seed, rounds: sizes.rounds, seconds: sizes.seconds, service: 'urtuu serve' }),
        controls: [
          {
            name: 'a service that measures durations on the system clock',
            play: (seed) =>
              clocks({ seed, rounds: 1, seconds: sizes.seconds, service: 'measures_on_the_system_clock' }),
          },
        ],
      },
      {
        name: 'a disk that is full, under load',
        unavailable: whyNoDisk,
        play: (seed) => fullDisk({ seed, fills: sizes.fills }),
        controls: [
          {
            name: 'customers who repeat with a new key',
            play: (seed) => fullDisk({ seed, fills: Math.min(2, sizes.fills), forgetKeys: true }),
          },
        ],
      },
      {
        name: 'data files missing, empty, damaged, foreign and old, at rest and under load',
        provedBy: 'test/e2e/serve-data.test.ts',
        play: (seed) => takenData({ seed, atRest: sizes.cases, underLoad: Math.ceil(sizes.cases / 5) }),
        controls: [
          {
            name: 'a service that starts on what is there',
            play: (seed) => takenData({ seed, atRest: 6, underLoad: 0, accepts: true }),
          },
        ],
      },
    ];
  },
);
