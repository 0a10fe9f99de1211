import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cores } from '../../../support/cores.js';
import { run } from '../../../support/run.js';

const cores = new Cores();
let home: string;
let data: string;
beforeEach(async () => {
  home = cores.folder();
  data = join(home, 'my data');
  await (await cores.open({ directory: data })).close();
});
afterEach(() => cores.closeAll());

const here = (line: string) => run(`${line} --data 'my data'`, { home, cwd: home });
const lanesOf = (text: string) =>
  (JSON.parse(text) as { lane: string; paused_at: string | null }[]).map((one) => [one.lane, one.paused_at]);

describe('a paused lane in urtuu service status', () => {
  it('is named by a warning with the command that resumes it', async () => {
    expect((await here('service lanes pause sms')).code).toBe(0);
    const { code, stdout, stderr } = await here('service status');
    expect(code).toBe(0);
    expect(stderr).toBe(
      `warning: The lane sms is paused. Resume it with: urtuu service lanes resume sms --data '${data}'\n`,
    );
    expect(stdout).toMatch(/^sms .* no instance, paused$/m);
    expect(stdout).toMatch(/^email .* no instance$/m);

    const [, resume = ''] = /urtuu (service lanes resume .*)\n/.exec(stderr) ?? [];
    expect((await run(resume, { home, cwd: '/' })).code).toBe(0);
    const after = await here('service status');
    expect([after.stderr, after.stdout.includes('paused')]).toEqual(['', false]);
  });

  it('has the time of the pause for programs, as in the list of lanes', async () => {
    await here('service lanes pause sms');
    const { stdout, stderr } = await here('service status --json');
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(lanesOf(stdout)).toEqual([
      ['email', null],
      ['sms', at],
    ]);
    expect(lanesOf((await here('service lanes list --json')).stdout)).toEqual(lanesOf(stdout));
    expect(JSON.parse(stderr).warnings).toEqual([
      expect.stringMatching(/^The lane sms is paused\. Resume it with: urtuu service lanes resume sms /),
    ]);
    const { stdout: csv } = await here('service status -o csv --columns lane,paused_at');
    expect(csv).toMatch(/^lane,paused_at\r?\nemail,\r?\nsms,\d{4}-/);
  });
});
