import { describe, expect, it } from 'vitest';
import { fakeService, refusal, run } from '../../support/run.js';

const key = '7b002574-9702-462d-923b-96aecf742780';
const lost = () => fakeService(() => Object.assign(new Error('reset'), { code: 'ECONNRESET' }));

describe('an error', () => {
  it('fits the terminal, and what is to be copied stays in one piece', async () => {
    const line = `sms send 99112233 hi --no-color --max-retries 0 --idempotency-key ${key}`;
    const { stderr } = await run(line, { ...lost(), terminal: 50 });
    const [command, ...others] = stderr.split('\n').filter((each) => each.startsWith('  urtuu '));
    expect({ command, others }).toEqual({ command: `  urtuu ${line}`, others: [] });
    for (const each of stderr.split('\n')) if (each !== command) expect(each.length).toBeLessThanOrEqual(50);
    expect(stderr).toContain(key);
    expect(stderr).toMatch(/^urtuu: .+\n( {7}.+\n)*( {2}\S.+\n)+$/);
  });

  it.each([40, 60, 80])(
    'keeps a command in the middle of its hint in one piece, at %i columns',
    async (terminal) => {
      const env = {
        URTUU_API_KEY: 'k',
        URTUU_BASE_URL: 'https://sms.example.mn/v1',
        XDG_STATE_HOME: '/srv/the state',
      };
      const refused = fakeService(() => refusal(401, 'unauthorized'));
      const { stderr } = await run('balance --no-color', { ...refused, env, terminal });
      for (const verb of ['doctor', 'login'])
        expect(stderr).toMatch(
          new RegExp(
            `XDG_STATE_HOME='/srv/the state' urtuu ${verb} --base-url https://sms.example.mn/v1(;|\\n)`,
          ),
        );
    },
  );

  it('is one line and one line of hint on a pipe', async () => {
    const { stderr } = await run('sms send 99112233 hi --max-retries 0', lost());
    expect(stderr).toMatch(/^urtuu: .+\n {2}.+\n$/);
  });

  it('is coloured at a terminal only', async () => {
    const refused = fakeService(() => refusal(401, 'unauthorized'));
    expect((await run('balance', { ...refused, terminal: 80 })).stderr).toContain(
      '\u001b[31murtuu:\u001b[39m',
    );
    expect((await run('balance --no-color', { ...refused, terminal: 80 })).stderr).not.toContain('\u001b');
    expect((await run('balance', refused)).stderr).not.toContain('\u001b');
    // What is wrong with the command line is found before anything else.
    expect((await run('balance --nope', { ...refused, terminal: 80 })).stderr).toContain('\u001b[31m');
  });
});
