import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Cores } from '../../../support/cores.js';
import { fullOutput, run } from '../../../support/run.js';

const cores = new Cores();
afterEach(() => cores.closeAll());

it.each(['keys', 'service keys'])(
  'a key of %s that could not be shown is named, with the command that revokes it',
  async (keys) => {
    const home = cores.folder();
    const data = join(home, 'my data');
    const core = await cores.open({ directory: data });
    await core.administration.createProject('Shop');
    await core.close();
    const here = (line: string, given = {}) =>
      run(`${line} --data 'my data' --project Shop`, { home, cwd: home, ...given });
    const { code, stderr } = await here(`${keys} create --label full`, { stdout: fullOutput() });
    const [{ id }] = JSON.parse((await here(`${keys} list --json`)).stdout);
    const revoke = `${keys} revoke ${id} --project Shop --data '${data}'`;
    expect([code, stderr]).toEqual([
      13,
      'urtuu: standard output could not be written: ENOSPC\n' +
        `  The key ${id} was created, but could not be shown. Create another one, and revoke this with: urtuu ${revoke}\n`,
    ]);
    expect((await run(`${revoke} --yes`, { home, cwd: '/' })).code).toBe(0);

    // Nobody has the key either if its reader has left.
    for (const errno of ['ENOSPC', 'EPIPE']) {
      const json = await here(`${keys} create --json`, { stdout: fullOutput(errno) });
      expect(JSON.parse(json.stderr).error).toMatchObject({ exit: 13, errno, id: expect.any(String) });
    }
  },
);

it('a service whose first key could not be shown does not start', async () => {
  const home = cores.folder();
  const line = 'serve --port 0 --value api_key';
  const { code, stderr } = await run(line, { home, stdout: fullOutput() });
  expect([code, stderr]).toEqual([
    13,
    expect.stringMatching(/revoke this with: (?:XDG_\S+ )?urtuu keys revoke \S+/),
  ]);
});
