import { groupOf, type Played } from '../row.js';
import { playText } from './play.js';

/** Texts from outside that want to act on a terminal. */
export const text = groupOf('text', { full: { outputs: 50_000 }, small: { outputs: 60 } }, ({ outputs }) => {
  const play = async (seed: number, count: number, sanitiser: 'shipped' | 'none'): Promise<Played> => {
    const result = await playText({ seed, outputs: count, sanitiser });
    return {
      measured: `${result.outputs} commands`,
      found: `${result.acting} control characters at the terminal`,
      wrong: result.acting,
    };
  };
  return [
    {
      name: 'hostile text',
      play: (seed) => play(seed, outputs, 'shipped'),
      controls: [
        {
          name: 'a terminal without the sanitiser',
          play: (seed) => play(seed, Math.min(200, outputs), 'none'),
        },
      ],
    },
  ];
});
