import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { constant, desk, figures, partly, people, personal } from './desks.js';

const keysOf = (here: ReturnType<typeof desk>) =>
  here.project.sends.map(({ headers }) => headers['Idempotency-Key']);

describe('what names a request', () => {
  it('lets another list under the same --job reach its people, on a machine that does not know the job', async () => {
    const monday = desk(people(3));
    const tuesday = desk([]);
    tuesday.write('list.csv', ['phone,name', '88112233,Bat', '88112234,Dorj', '88112235,Tuya']);
    const { fetch } = monday.project.service;
    expect(await monday.run('sms bulk list.csv --text Monday --job nightly --yes')).toMatchObject({
      code: 0,
    });
    const end = await tuesday.run('sms bulk list.csv --text Tuesday --job nightly --yes', { fetch });
    expect(end.code).toBe(0);
    expect([...monday.project.received().values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it.each([
    ['another text', 'sms bulk list.csv --text Hi --job july --yes'],
    ['another channel', 'email bulk mails.csv --subject Hello --text Hello --job july --yes'],
  ])('is never that of %s', async (_, line) => {
    const one = desk(people(2));
    const other = desk(people(2));
    other.write('mails.csv', ['email', 'a@b.mn', 'c@b.mn']);
    await one.run(constant);
    expect(await other.run(line, { fetch: one.project.service.fetch })).toMatchObject({ code: 0 });
    expect(new Set(keysOf(one)).size).toBe(2);
  });

  it('is its own for every --again, also when the machine has forgotten the runs before', async () => {
    const one = desk(people(3));
    const other = desk(people(3));
    const { fetch } = one.project.service;
    const again = `${constant} --again`;
    await one.run(constant);
    expect(await one.run(again)).toMatchObject({ code: 0 });
    rmSync(one.jobFile('july.2', ''), { recursive: true });
    expect(await one.run(again)).toMatchObject({ code: 0 });
    expect(await other.run(again, { fetch })).toMatchObject({ code: 0 });
    expect([...one.project.received().values()]).toEqual([4, 4, 4]);
    expect(new Set(keysOf(one)).size).toBe(4);
  });

  it('stays that of its run when --again was cut short', async () => {
    const here = desk(people(3));
    await here.run(personal);
    here.project.balance = 10;
    expect(await here.run(`${partly} --again`)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    rmSync(here.jobFile('july.2', 'journal'));
    expect(await here.run('jobs resume july.2')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([2, 2, 2]);
  });
});

describe('a job that this machine has no record of', () => {
  it('and that ran elsewhere is refused, exit 11, with nothing sent', async () => {
    const one = desk(people(3));
    const other = desk(people(3));
    await one.run(personal);
    const { fetch } = one.project.service;
    const { code, stdout } = await other.run(`${personal} --json`, { fetch });
    expect(code).toBe(11);
    expect(figures(stdout)).toMatchObject({ accepted: 3, exit: 11 });
    expect([...one.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('is an ordinary one when part of it is sent only now', async () => {
    const one = desk(people(3), { credits: 20 });
    const other = desk(people(3));
    await one.run(partly);
    one.project.balance = 1_000;
    expect(await other.run(personal, { fetch: one.project.service.fetch })).toMatchObject({ code: 0 });
    expect([...one.project.received().values()]).toEqual([1, 1, 1]);
  });

  it('is an ordinary one when the answer repeats a copy of its own that had none', async () => {
    const here = desk(people(1));
    let lost = 0;
    const { fetch } = here.project.service;
    const losing: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init);
      if (init.method !== 'POST' || lost > 0) return answer;
      lost += 1;
      throw new TypeError('reset');
    };
    expect(await here.run(personal, { fetch: losing })).toMatchObject({ code: 0 });
    expect(lost).toBe(1);
  });
});

describe('a plan with one bit flipped', () => {
  it('is refused, exit 13, whichever bit of its record it is', async () => {
    const here = desk(people(3), { credits: 20 });
    await here.run(partly);
    here.project.balance = 1_000;
    const path = here.jobFile('july', 'plan.json');
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(path, flipped);
      expect([at, (await here.run('jobs resume july')).code]).toEqual([at, 13]);
    }
    expect(here.project.received().size).toBe(2);
  });
});
