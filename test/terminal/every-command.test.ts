import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandHome } from '../cli/command-home.js';
import { type Case, commandLines } from '../cli/command-lines.js';
import { words } from '../support/run.js';
import { pty, Terminal } from './pseudoterminal.js';

const home = new CommandHome();
beforeAll(async () => {
  await home.open();
  await home.bounce('bounced@example.mn');
  // One more than the lines make, for a list of them.
  await home.here('sms bulk two.csv --text first --job first --yes', { cwd: home.path });
}, 120_000);
afterAll(() => home.close());

const machine = {
  get home() {
    return home.path;
  },
  environment: (extra: NodeJS.ProcessEnv = {}) => ({
    PATH: process.env.PATH,
    HOME: home.path,
    XDG_STATE_HOME: join(home.path, '.local/state'),
    XDG_CONFIG_HOME: join(home.path, '.config'),
    ...home.env,
    ...extra,
  }),
};
const cases = commandLines(home.known, (line, setting) => home.here(line, { cwd: home.path, ...setting }));
// What reads standard input would wait for a person; a pipe is tested in test/cli.
const withoutInput = cases.filter(({ stdin }) => stdin === undefined);
/** The first word of it, or that it is a bulk job: commands of one noun share what they show. */
const nounOf = ({ line }: Case) => (words(line())[1] === 'bulk' ? 'bulk' : words(line())[0]);
/** Every line is tested in test/cli: here a command of each noun as it goes well, and one that fails. */
const isChosen = (each: Case, other: Case) =>
  (each.code === undefined) === (other.code === undefined) &&
  (each.code !== undefined || nounOf(each) === nounOf(other));
const chosen = withoutInput.filter(
  (each, index) => withoutInput.findIndex((other) => isChosen(each, other)) === index,
);
/** Both streams share the screen, so what begins one of them begins some line. */
const onScreen = ({ source, ignoreCase }: RegExp) => new RegExp(source, ignoreCase ? 'im' : 'm');
const endOfInput = '\u0004';
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

describe.skipIf(pty === null)('a command of each noun of the real binary, at a real terminal', () => {
  it.each(chosen.map((each) => [each.line.toString().replace(/^\(\) => /, ''), each] as const))(
    '%s',
    async (_, { line, code = 0, stdout, stderr, prepare }) => {
      await prepare?.();
      const terminal = new Terminal(machine, words(line()));
      try {
        if (/^(?:sendmail|service incoming)/.test(line())) terminal.type(endOfInput);
        const ending = await terminal.ended;
        expect({ code: ending.code, signal: ending.signal }).toEqual({ code, signal: null });
        expect(ending.screen).not.toMatch(control);
        for (const pattern of [stdout, stderr])
          if (pattern !== undefined && pattern.source !== '^$')
            expect(ending.screen).toMatch(onScreen(pattern));
      } finally {
        terminal.close();
      }
    },
  );
});
