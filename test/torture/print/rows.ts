import { groupOf, type Played } from '../row.js';
import { type Change, playPrint } from './play.js';

const without =
  (option: RegExp): Change =>
  (line) =>
    line.replace(option, '');

/** Commands that are printed, pasted in another shell. */
export const print = groupOf('print', { full: { games: 1_000 }, small: { games: 12 } }, ({ games }) => {
  const play = async (seed: number, count: number, change?: Change): Promise<Played> => {
    const result = await playPrint({ seed, games: count, ...(change === undefined ? {} : { change }) });
    return {
      measured: `${result.games} runs, ${result.pasted} commands pasted`,
      found: result.failure ?? 'reach and spend nothing that their run would not',
      wrong: result.wrong,
    };
  };
  const control = (name: string, change: Change) => ({
    name: `commands ${name}`,
    play: (seed: number) => play(seed, 60, change),
  });
  return [
    {
      name: 'the small print',
      play: (seed) => play(seed, games),
      controls: [
        control('without --profile', without(/ --profile \S+/)),
        control('without --base-url', without(/ --base-url \S+/)),
        control('without the state folder', without(/XDG_STATE_HOME='[^']*' /)),
        control('without the folder of profiles', without(/XDG_CONFIG_HOME='[^']*' /)),
        control('without the key that they ask for', without(/URTUU_API_KEY="[^"]*" /)),
        control('with a limit of their own beside --like', (line) =>
          line.replace(/ --like \S+/, (like) => `${like} --max-credits 1000`),
        ),
        control('with the text in place of --like', (line) =>
          line.replace(/ --like \S+/, String.raw` --text "It's \$5"`),
        ),
        control('without --rate', without(/ --rate \S+/)),
        control('without --idempotency-key', without(/ --idempotency-key \S+/)),
        // Whoever got the message keeps such a command from being run, until it has the option that this names.
        control('without --only, by somebody who means it', (line) =>
          line.replace(/ --only \S+/, ' --again'),
        ),
        control('that name a job, which answers the question of earlier sends', (line) =>
          line.replace(/urtuu sms bulk .*/, (command) => `${command} --job the-rejects`),
        ),
      ],
    },
  ];
});
