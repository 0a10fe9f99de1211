import { groupOf } from '../row.js';
import { playFlips } from './play.js';

/** A job's folder on a disk that changes what was written. */
export const flips = groupOf('flips', { full: { stride: 1 }, small: { stride: 41 } }, ({ stride }) => [
  {
    name: 'every byte of every file of a job, flipped',
    play: (seed) => playFlips(seed, stride),
    controls: [
      {
        name: 'a journal whose checksums are made anew',
        play: (seed) => playFlips(seed, 11, { files: (name) => name === 'journal', resealed: true }),
      },
    ],
  },
]);
