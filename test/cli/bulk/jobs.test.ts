import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { constant, desk, figures, partly, people } from './desks.js';

describe('urtuu jobs', () => {
  it('lists, shows and removes them', async () => {
    const here = desk(people(5), { credits: 25 });
    expect(await here.run('jobs list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    await here.run(partly);
    expect(JSON.parse((await here.run('jobs list --json')).stdout)).toMatchObject([
      { job: 'july', state: 'unfinished', planned: 5, accepted: 2, pending: 3 },
    ]);
    expect(figures((await here.run('jobs show july --json')).stdout)).toMatchObject({ exit: 7 });
    expect(await here.run('jobs remove july')).toMatchObject({ code: 11 });
    expect(await here.run('jobs remove july --force')).toMatchObject({ code: 0 });
    expect(here.jobs).toEqual([]);
    expect(await here.run('jobs show july')).toMatchObject({ code: 12 });
    expect(await here.run('jobs show ../../etc')).toMatchObject({ code: 12 });
  });

  it('shows one to a person as it is read, without what there is none of', async () => {
    const here = desk(people(1_002), { credits: 20 });
    await here.run(`${partly} --concurrency 1`);
    const { stdout } = await here.run('jobs show july');
    expect(stdout).toMatch(/\nplanned +1,002\naccepted +2\npending +1,000\ncredits +20\n$/);
    expect((await here.run('jobs show july --columns planned,failed')).stdout).toMatch(
      /^planned +1002\nfailed +0\n$/,
    );
  });

  it('says how much is left of one that it does not remove', async () => {
    const here = desk(people(1_002), { credits: 20 });
    await here.run(`${partly} --concurrency 1`);
    const { stderr } = await here.run('jobs remove july');
    expect(stderr).toContain('is not finished: 1,000 pending, 0 in doubt');
    expect(stderr).toMatch(/or go on with: urtuu jobs resume july\n$/);
  });

  it('lists them as a table where the terminal has 80 columns', async () => {
    const here = desk(people(3));
    await here.run("sms bulk list.csv --text 'Hello' --yes");
    await here.run("sms bulk list.csv --text 'Hello' --yes --again");
    const { stdout } = await here.run('jobs list --no-color', { terminal: 80 });
    const [header, ...lines] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/^JOB +STATE +CREATED AT +PLANNED +ACCEPTED$/);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^sms-[0-9a-f]{20}\.2 +finished +2026-11-21 \S+ +3 +3$/);
  });

  it('resumes without the file, and only at the service it was made for', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(partly);
    rmSync(`${here.home}/list.csv`);
    here.project.balance = 1_000;
    const elsewhere = await here.run('jobs resume july --base-url http://127.0.0.1:9999/v1');
    expect(elsewhere).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    const again = await here.run('jobs resume july');
    expect(again).toMatchObject({ code: 11 });
    // It is no option of this command.
    expect(again.stderr).toContain('add --again to the bulk command');
  });

  it('writes the report later, also to standard output', async () => {
    const here = desk(people(2));
    await here.run(constant);
    const untold = await here.run('jobs report july --offline');
    expect(untold.stdout).toMatch(/^99000000,Bat 0,,[0-9a-f-]{36},queued,,10,2,,july\r$/m);
    const { stdout } = await here.run('jobs report july');
    expect(stdout).toMatch(/^99000000,Bat 0,[0-9a-f-]{36},[0-9a-f-]{36},sent,,10,2,,july\r$/m);
    const before = here.project.service.requests.length;
    const offline = await here.run('jobs report july --offline');
    expect(offline.stdout).toBe(stdout);
    expect(here.project.service.requests.length).toBe(before);
    await here.run('jobs report july --report out.csv');
    expect(here.read('out.csv')).toBe(stdout);
    expect(existsSync(`${here.home}/out.csv.part`)).toBe(false);
  });
});
