import { describe, expect, it } from 'vitest';
import { testKey } from '../../../support/run.js';
import { constant, desk, partly, people } from './desks.js';

describe('a service in another spelling of its base URL', () => {
  const at = (url: string) => ({ env: { URTUU_API_KEY: testKey, URTUU_BASE_URL: url } });
  const one = at('http://localhost:7788/v1');
  const unnamed = constant.replace(' --job july', '');

  it.each(['HTTP://LOCALHOST:7788/v1/', 'http://localhost:7788/a/../v1'])(
    'gets no list twice: %s',
    async (url) => {
      const here = desk(people(3));
      expect(await here.run(unnamed, one)).toMatchObject({ code: 0 });
      expect(await here.run(unnamed, at(url))).toMatchObject({ code: 11 });
      expect(await here.run(`${constant} --skip-sent`, at(url))).toMatchObject({ code: 11 });
      expect(here.project.messages).toHaveLength(3);
    },
  );

  it('goes on with its job under the keys that the job began with', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(partly, one);
    here.project.balance = 1_000;
    expect(await here.run('jobs resume july', at('HTTP://localhost:7788/v1/'))).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
    const keys = here.project.sends.map(({ headers }) => headers['Idempotency-Key']);
    expect(new Set(keys).size).toBe(5);
  });

  it('is another one on another address of this machine', async () => {
    const here = desk(people(3));
    expect(await here.run(unnamed, one)).toMatchObject({ code: 0 });
    expect(await here.run(`${constant} --skip-sent`, at('http://127.0.0.2:7788/v1'))).toMatchObject({
      code: 0,
    });
    expect(here.project.messages).toHaveLength(6);
  });
});
