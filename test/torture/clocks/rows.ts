import { groupOf } from '../row.js';
import { playClocks, playTimedKeys, playWallLimiter } from './play.js';

/** The clock of the machine that sends is set, forwards, backwards and every second. */
export const clocks = groupOf(
  'clocks',
  { full: { recipients: 10_000, kills: 20 }, small: { recipients: 240, kills: 1 } },
  (sizes) => [
    {
      name: 'the command at -2 d, +2 d and with a step each second',
      play: (seed) => playClocks(seed, sizes),
      controls: [
        { name: 'a limiter that keeps its times by the clock', play: () => playWallLimiter() },
        { name: 'a sender whose keys hold the time', play: (seed) => playTimedKeys(seed, sizes) },
      ],
    },
  ],
);
