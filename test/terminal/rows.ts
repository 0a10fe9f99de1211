import { groupOf, type Played } from '../torture/row.js';
import { buildDeafToTheEnd, buildWithoutSanitiser, called } from '../torture/text/changed-build.js';
import { playPrompts } from './prompts.js';
import { pty } from './pseudoterminal.js';
import { playScenes, type SceneName } from './scenes.js';
import { playShell } from './shell.js';
import type { Complaints, Wrapper } from './stage.js';
import { noTmux } from './tmux.js';

const noTerminals = () => (pty === null ? 'there are no pseudoterminals here' : noBash());
const noBash = () => (process.platform === 'win32' ? 'Windows has no bash' : null);

/** How often everything is played, and in how many ways each question is left. */
const sizes = { full: { rounds: 20, ways: 3 }, small: { rounds: 1, ways: 1 } };

/** The real command as people, scripts and cron run it. */
export const terminal = groupOf('terminal', sizes, ({ rounds, ways }) => {
  /** Plays again and again, for what happens only now and then. */
  const repeated = async (seed: number, play: (seed: number) => Promise<Complaints>): Promise<Played> => {
    let checks = 0;
    const all: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const complaints = await play(seed + round);
      checks += complaints.checks;
      all.push(...complaints.all);
    }
    const first = all[0] === undefined ? '' : `: ${all[0].slice(0, 500)}`;
    return {
      measured: `${checks} checks`,
      found: `${all.length} not as they have to be${first}`,
      wrong: all.length,
    };
  };
  const once = async (complaints: Promise<Complaints>): Promise<Played> => {
    const { checks, all } = await complaints;
    return { measured: `${checks} checks`, found: `${all.length} not as they have to be`, wrong: all.length };
  };
  const scenes = (only: SceneName[], wrapper: Wrapper, program?: string[]) => (seed: number) =>
    once(playScenes({ seed, only, wrapper, ...(program ? { program } : {}) }));

  return [
    {
      name: 'a person at a terminal',
      unavailable: noTmux,
      play: (seed) => repeated(seed, (each) => playScenes({ seed: each })),
      controls: [
        {
          name: 'a wrapper that swallows signals',
          play: scenes(['question', 'interruptedTwice'], 'swallows_signals'),
        },
        {
          name: 'a command without the sanitiser',
          async play(seed) {
            return scenes(['hostile'], 'none', called(await buildWithoutSanitiser()))(seed);
          },
        },
      ],
    },
    {
      name: 'every prompt with Ctrl-C, Ctrl-D and closed input',
      unavailable: noTerminals,
      play: (seed) => repeated(seed, (each) => playPrompts({ seed: each, waysOfEach: ways })),
      controls: [
        {
          name: 'questions that do not notice the end of their input',
          async play() {
            const deaf = [process.execPath, ...called(await buildDeafToTheEnd())];
            const { all } = await playPrompts({ program: deaf, only: ['Ctrl-C'], count: 2 });
            if (all.length > 0) throw new Error(`it is broken otherwise: ${all}`);
            return once(playPrompts({ program: deaf, only: ['Ctrl-D'], count: 2 }));
          },
        },
      ],
    },
    {
      name: 'scripts, pipes and cron',
      unavailable: noBash,
      play: (seed) => repeated(seed, () => playShell('none')),
      controls: [
        { name: 'a wrapper that ends with 0', play: () => once(playShell('ends_with_0', 12)) },
        { name: 'a wrapper that tries again', play: () => once(playShell('tries_again')) },
      ],
    },
  ];
});
